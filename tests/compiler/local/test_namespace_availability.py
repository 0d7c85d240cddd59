"""Why namespaces are unavailable, in words that name the remedy."""

from __future__ import annotations

import errno

import pytest

from smspec.local.engines.namespace import availability
from smspec.local.engines.namespace.availability import why

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
