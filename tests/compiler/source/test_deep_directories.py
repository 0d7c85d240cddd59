"""Directories nested deeper than the Python stack are walked and removed."""

from __future__ import annotations

import os
import sys

import pytest

from smspec.local.engines.namespace.cell import written_files
from smspec.source import real_file
from smspec.source.real_file import remove_tree, walked

DEEP = 3000


@pytest.fixture(autouse=True)
def removes_deep_directories(tmp_path):
    """Remove what a test leaves, however it ends: pytest's own removal calls itself for each level."""
    yield
    remove_tree(str(tmp_path))


def nested(root, depth, name="d"):
    """Make directories in each other, with a file in the last; longer than a path may be."""
    os.makedirs(root)
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return root


def taken_back(path):
    directory = os.open(path, os.O_RDONLY)
    try:
        assert written_files.take_back(directory)
    finally:
        os.close(directory)


def test_tree_deeper_than_a_path_is_removed(tmp_path):
    root = nested(tmp_path / "deep", DEEP)
    remove_tree(str(root))
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("x")
    (tmp_path / "tree/a").mkdir(parents=True)
    for link, target in (("tree/out", "../kept"), ("tree/a/loop", ".."), ("tree/nowhere", "nothing")):
        (tmp_path / link).symlink_to(target)
    remove_tree(str(tmp_path / "tree"))
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["kept", "file"]


def test_link_is_not_a_tree(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    with pytest.raises(OSError, match="link"):
        remove_tree(str(tmp_path / "link"))
    remove_tree(str(tmp_path / "link"), ignore_errors=True)
    assert (tmp_path / "link").exists()


def test_unreadable_tree_is_removed_by_its_owner(tmp_path):
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/a/b/file").write_text("x")
    (tmp_path / "tree/a/b").chmod(0)
    (tmp_path / "tree/a").chmod(0o555)
    remove_tree(str(tmp_path / "tree"))
    assert list(tmp_path.iterdir()) == []


def test_wide_tree_is_removed(tmp_path):
    for number in range(2000):
        (tmp_path / "tree" / str(number) / "x").mkdir(parents=True)
    remove_tree(str(tmp_path / "tree"))
    assert list(tmp_path.iterdir()) == []


def test_walk_equals_os_walk(tmp_path):
    for path in ("a/b/c", "a/d", "e"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "file").write_text("x")
    (tmp_path / "link").symlink_to("a")

    def seen(walk):
        return {directory: (sorted(directories), sorted(files)) for directory, directories, files in walk}

    assert seen(walked(str(tmp_path))) == seen(os.walk(tmp_path))


def test_walk_skips_removed_directories(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    walk = walked(str(tmp_path))
    next(walk)[1].clear()
    assert list(walk) == []


def test_walk_is_as_deep_as_a_path(tmp_path):
    root = nested(tmp_path / "deep", 1500)
    assert sum(1 for _ in walked(str(root))) == 1501


@pytest.mark.parametrize("close", [remove_tree, taken_back], ids=["remove", "take back"])
def test_no_signal_closes_a_directory_twice(tmp_path, close):
    """A signal may raise between any two instructions; a second close would hide it, or close what is not ours."""

    class Signal(BaseException):
        """As `RunInterrupted`, which no handler of errors catches."""

    def traced(left):
        def trace(frame, event, _):
            nonlocal left
            if frame.f_code.co_filename not in (real_file.__file__, written_files.__file__):
                return None
            frame.f_trace_opcodes = True
            left -= event == "opcode"
            if left == 0:
                raise Signal
            return trace

        return trace

    ended = 0
    for moment in range(1, 5000):
        (tmp_path / "tree/a/b").mkdir(parents=True, exist_ok=True)
        before = sys.gettrace()
        sys.settrace(traced(moment))
        try:
            close(str(tmp_path / "tree"))
        except Signal:
            ended += 1
        else:
            break
        finally:
            sys.settrace(before)
    assert 200 < ended < 4999
