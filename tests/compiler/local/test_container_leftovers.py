"""Which files of a killed run containers have written as another user."""

from __future__ import annotations

import fcntl
import os

import pytest

from smspec.local.engines.containers import client
from smspec.local.engines.containers.client import LABEL, files_of_others, label_of, sweep
from smspec.local.running.run_directory import claim
from smspec.render.tree import RUN_MARKER, run_marker_json

NOBODY = 65534


@pytest.fixture
def run(tmp_path):
    """The directory of a run, with a file of another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    for name in ("hosts", "interrupted"):
        (tmp_path / name / "algo-1").mkdir(parents=True)
        (tmp_path / name / "algo-1" / "model").write_text("x")
    os.chown(tmp_path / "hosts" / "algo-1" / "model", NOBODY, NOBODY)
    (tmp_path / RUN_MARKER).write_bytes(run_marker_json("job", "Running", "0" * 32))
    return tmp_path


def test_files_of_other_users_are_found(run):
    assert files_of_others(str(run)) == [str(run / "hosts")]


def test_files_of_the_author_are_left_alone(run):
    os.chown(run / "hosts" / "algo-1" / "model", 0, 0)
    assert files_of_others(str(run)) == []


def test_running_job_keeps_its_files(run):
    with open(run / RUN_MARKER, "rb") as marker:
        fcntl.flock(marker, fcntl.LOCK_EX)
        assert files_of_others(str(run)) == []


@pytest.mark.parametrize("content", [b"", b'{"kind": "other"}'], ids=["empty", "other kind"])
def test_directories_of_others_are_left_alone(run, content):
    (run / RUN_MARKER).write_bytes(content)
    assert files_of_others(str(run)) == []


def test_linked_directories_are_left_alone(run):
    (run / "hosts").rename(run / "elsewhere")
    (run / "hosts").symlink_to(run / "elsewhere")
    assert files_of_others(str(run)) == []


ENGINE = """\
#!/bin/sh
case "$*" in
    "ps "* | "network ls "* | "volume ls "*) echo one ;;
    "inspect "* | "network inspect "* | "volume inspect "*) cat {root}/label ;;
    *) echo "$*" >>{root}/removed ;;
esac
"""


def removed(tmp_path, label):
    """Return what a sweep removes from an engine that has one of each kind, with this label."""
    program = tmp_path / "engine"
    program.write_text(ENGINE.format(root=tmp_path))
    program.chmod(0o755)
    (tmp_path / "label").write_text(label)
    (tmp_path / "removed").write_text("")
    sweep.cache_clear()
    sweep(str(program))
    return (tmp_path / "removed").read_text().splitlines()


def labeled(tmp_path):
    """Return the directory of a run that has ended, and its label."""
    directory = claim(str(tmp_path / "run"), "job")
    label = label_of(directory).removeprefix(f"{LABEL}=")
    directory.release()
    return tmp_path / "run", label


@pytest.mark.process
def test_leftovers_of_an_ended_run_are_removed(tmp_path):
    _, label = labeled(tmp_path)
    assert removed(tmp_path, label) == ["rm --force --volumes one", "network rm one", "volume rm one"]
    directory = claim(str(tmp_path / "run"), "job")
    assert removed(tmp_path, label) == []
    directory.release()
    assert removed(tmp_path, label) != [], "the next run keeps the identity of the directory"


def marker_gone(run, label):
    (run / RUN_MARKER).unlink()


def directory_gone(run, label):
    run.rename(run.parent / "elsewhere")


def unreadable_directory(run, label):
    run.chmod(0)
    if os.access(run / RUN_MARKER, os.R_OK):
        pytest.skip("root reads everything")


def link(run, label):
    (run / RUN_MARKER).rename(run / "marker")
    (run / RUN_MARKER).symlink_to("marker")


def fifo(run, label):
    (run / RUN_MARKER).unlink()
    os.mkfifo(run / RUN_MARKER)


def run_of_a_different_machine(run, label):
    return f"{'0' * 16} {label.partition(' ')[2]}"


def same_path_elsewhere(run, label):
    (run / RUN_MARKER).write_bytes(run_marker_json("job", "Completed", "f" * 32))


@pytest.mark.process
@pytest.mark.parametrize(
    "change",
    [
        marker_gone,
        directory_gone,
        unreadable_directory,
        link,
        fifo,
        run_of_a_different_machine,
        same_path_elsewhere,
        lambda run, label: (run / RUN_MARKER).write_bytes(b""),
        lambda run, label: (run / RUN_MARKER).write_bytes(b"[" * 4000),
        lambda run, label: str(run / RUN_MARKER),
        lambda run, label: label.replace(" ", "  "),
        lambda run, label: label.rpartition(" ")[0],
        lambda run, label: f"{label}\0",
        lambda run, label: "<no value>",
        lambda run, label: "",
        lambda run, label: f"{label.partition(' ')[0]}  {run / RUN_MARKER}",
    ],
    ids=lambda change: change.__name__.replace("_", " ") if change.__name__ != "<lambda>" else None,
)
def test_leftovers_that_may_be_in_use_stay(tmp_path, change):
    """Others use the same engine: only a marker that exists, can be read, and is not locked shows that a run ended."""
    run, label = labeled(tmp_path)
    try:
        changed = change(run, label)
        assert removed(tmp_path, changed if isinstance(changed, str) else label) == []
    finally:
        if run.exists():
            run.chmod(0o755)


def test_machines_differ(tmp_path, monkeypatch):
    _, label = labeled(tmp_path)
    (tmp_path / "machine-id").write_text("another\n")
    monkeypatch.setattr(client, "_MACHINE", str(tmp_path / "machine-id"))
    assert removed(tmp_path, label) == []
