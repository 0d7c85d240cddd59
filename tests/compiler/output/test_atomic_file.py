"""A single file is replaced in one step, and what a killed writer left is removed."""

import fcntl

from smspec.output.atomic_file import write_whole


def test_unfinished_file_of_killed_writer_is_removed(tmp_path):
    """A writer holds a lock on its unfinished file; the system takes it from one who is killed."""
    unfinished = tmp_path / ".smspec.lock-of-another.smspec-unfinished"
    with open(unfinished, "w") as of_another:
        fcntl.flock(of_another, fcntl.LOCK_EX)
        write_whole(str(tmp_path / "smspec.lock"), "new\n")
        assert unfinished.exists()
    write_whole(str(tmp_path / "smspec.lock"), "newer\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("smspec.lock", "newer\n")]
