"""Which files of a killed run containers have written as another user."""

from __future__ import annotations

import fcntl
import os

import pytest

from smspec.local.engines.containers.client import files_of_others
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
    (tmp_path / RUN_MARKER).write_bytes(run_marker_json("job", "Running"))
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
