"""A single file is replaced in one step, and what a killed writer left is removed."""

import fcntl
import os

from smspec.output.atomic_file import write_whole
from support.small_job import write_job
from support.smspec_command import smspec


def test_unfinished_file_of_killed_writer_is_removed(tmp_path):
    """A writer holds a lock on its unfinished file; the system takes it from one who is killed."""
    unfinished = tmp_path / ".smspec.lock-of-another.smspec-unfinished"
    with open(unfinished, "w") as of_another:
        fcntl.flock(of_another, fcntl.LOCK_EX)
        write_whole(str(tmp_path / "smspec.lock"), "new\n")
        assert unfinished.exists()
    write_whole(str(tmp_path / "smspec.lock"), "newer\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("smspec.lock", "newer\n")]


def test_unfinished_files_of_other_files_are_removed_too(tmp_path):
    (tmp_path / ".job.yaml-of-the-dead.smspec-unfinished").touch()
    (tmp_path / "kept.smspec-unfinished").touch()
    os.mkfifo(tmp_path / ".fifo.smspec-unfinished")
    os.symlink("kept.smspec-unfinished", tmp_path / ".link.smspec-unfinished")
    write_whole(str(tmp_path / "smspec.lock"), "new\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "smspec.lock",
        "kept.smspec-unfinished",
        ".fifo.smspec-unfinished",
        ".link.smspec-unfinished",
    }


def test_fmt_removes_files_of_a_killed_one(tmp_path):
    write_job(tmp_path)
    assert smspec("fmt", cwd=tmp_path).status == 0
    left = tmp_path / ".job.yaml-of-the-dead.smspec-unfinished"
    left.touch()
    assert smspec("fmt", "--check", cwd=tmp_path).status == 0
    assert left.exists()
    assert smspec("fmt", cwd=tmp_path).status == 0
    assert not left.exists()
