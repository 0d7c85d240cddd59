"""Why namespaces are unavailable, in words that name the remedy."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import time

import pytest

from smspec.local.engines.choice import chosen_engine
from smspec.local.engines.namespace import availability
from smspec.local.engines.namespace.availability import why
from smspec.local.running.request import RunFailed

NONE: dict[str, str] = {}
UBUNTU = {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}
DEBIAN = {"/proc/sys/kernel/unprivileged_userns_clone": "0"}


@pytest.mark.parametrize(
    ("step", "number", "settings", "words"),
    [
        ("linux", 0, NONE, "they need Linux; pass `--engine docker`"),
        ("unshare user", errno.EPERM, NONE, "this container forbids them; start it with `--security-opt seccomp"),
        ("unshare user", errno.ENOSPC, NONE, "an administrator disabled them"),
        ("unshare user", errno.EPERM, DEBIAN, "an administrator disabled them"),
        ("unshare user", errno.EACCES, UBUNTU, "Ubuntu restricts them; `sudo sysctl -w kernel.apparmor_restrict"),
        ("uid_map", errno.EPERM, UBUNTU, "Ubuntu restricts them; "),
        ("setgroups", errno.EACCES, UBUNTU, "Ubuntu restricts them; "),
        ("mount tmpfs", errno.EPERM, UBUNTU, "Ubuntu restricts them; "),
        ("mount proc", errno.EPERM, NONE, "this container masks /proc; "),
        ("pivot_root", errno.EINVAL, NONE, "this machine refuses a step (`pivot_root`: invalid argument)"),
        ("start", 0, NONE, "this machine refuses a step (`start`)"),
    ],
)
def test_failed_step_names_its_remedy(step, number, settings, words):
    assert why(step, number, lambda path: settings.get(path, "")).startswith(words)


def test_internet_needs_a_program_and_its_device(tmp_path, monkeypatch):
    """With the program but without its device, hosts have no internet; the run does not fail."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert availability.missing_for_internet() == "install slirp4netns"
    (tmp_path / "slirp4netns").write_text("#!/bin/sh\n")
    (tmp_path / "slirp4netns").chmod(0o755)
    monkeypatch.setattr(availability, "_DEVICE", str(tmp_path / "tun"))
    assert availability.missing_for_internet().startswith("let your user read and write ")
    (tmp_path / "tun").write_text("")
    assert availability.missing_for_internet() == ""


@pytest.fixture
def unknown():
    availability.probe.cache_clear()
    availability.start_probe.cache_clear()
    yield
    availability.probe.cache_clear()
    availability.start_probe.cache_clear()


def test_untried_namespaces_are_no_reason_to_confine_nothing(unknown, monkeypatch):
    monkeypatch.setattr(availability, "_SECONDS", 0)
    with pytest.raises(RunFailed) as failed:
        chosen_engine("auto")
    assert (failed.value.exit_status, str(failed.value).partition(":")[0]) == (3, "namespaces could not be tried")
    assert chosen_engine("process") == ("process", "")


@pytest.mark.needs_namespaces
def test_probe_that_lacks_files_has_tried_nothing():
    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

    words = availability.cell_words("probe")
    found = json.loads(subprocess.run(words, capture_output=True, preexec_fn=few_files, check=True).stdout)
    assert found == {"step": "start", "errno": errno.EMFILE}
    assert not availability.Probe(step="start", number=errno.EMFILE).is_tried


WAITING = "sleep 4321 & echo $! > {child}; echo why >&2; wait\n"
PRINTING = "sleep 4321 & echo $! > {child}; while :; do echo why; done >&2\n"


@pytest.mark.parametrize("body", [WAITING, PRINTING], ids=["waits", "prints"])
def test_script_in_place_of_slirp_ends_with_what_it_started(tmp_path, monkeypatch, body):
    """What a shell has started holds its stderr, and would keep a reader of all of it for ever."""
    child = tmp_path / "child"
    (tmp_path / "slirp4netns").write_text("#!/bin/sh\n" + body.format(child=child))
    (tmp_path / "slirp4netns").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(availability, "_SECONDS_TO_CONNECT", 0.1)
    while True:
        with pytest.raises(RunFailed) as failed:
            availability.Internet(os.getpid(), reaches_loopback=False)
        if child.exists() and child.read_text():
            break
        monkeypatch.setattr(availability, "_SECONDS_TO_CONNECT", 2 * availability._SECONDS_TO_CONNECT)
    assert str(failed.value).startswith("`slirp4netns` did not start")
    process = f"/proc/{child.read_text().strip()}/stat"
    while os.path.exists(process) and open(process).read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
