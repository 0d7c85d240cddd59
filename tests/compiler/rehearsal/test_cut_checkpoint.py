"""The state that a host leaves that is lost while it writes a checkpoint."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from smspec.rehearsal.cut_checkpoint import Unclear, cut_checkpoint
from smspec.source.real_file import copy_files, files_below, remove_tree
from support.rehearsal.trials import timeline


@pytest.fixture
def cut(tmp_path):
    """Cut a checkpoint between two states, file → text; return the state and what was cut."""

    def run(before, after, *events, count=1):
        for name, files in (("before", before), ("after", after)):
            (tmp_path / name).mkdir()
            for path, text in files.items():
                (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
                if text.startswith("-> "):
                    (tmp_path / name / path).symlink_to(text[3:])
                else:
                    (tmp_path / name / path).write_text(text)
        changes = timeline(*(f"{second} {event}" for second, event in enumerate(events))).changes
        places = (str(tmp_path / name) for name in ("before", "after"))
        found = cut_checkpoint(*places, changes, count, str(tmp_path / "cut"))
        files = [path for path in (tmp_path / "cut").rglob("*") if path.is_file()]
        return {str(Path(path).relative_to(tmp_path / "cut")): path.read_text() for path in files}, found

    return run


def test_file_written_in_place_is_cut(cut):
    state, found = cut({"state": "one1"}, {"state": "two2"}, "write state")
    assert (state, found.is_in_place, str(found)) == ({"state": "tw"}, True, "`state` with 2 of 4 bytes")


def test_file_renamed_into_place_leaves_the_old_one(cut):
    state, found = cut({"state": "one1"}, {"state": "two2"}, "write state.part", "rename state state.part", count=2)
    assert (state, found.is_in_place) == ({"state": "one1", "state.part": "tw"}, False)


def test_renamed_directory_is_cut_under_its_old_name(cut):
    after = {"step-2/model": "two2", "step-2/meta": "2"}
    events = ("write .new/model", "write .new/meta", "rename step-2 .new")
    assert cut({"step-1/model": "one1"}, after, *events, count=3)[0] == {"step-1/model": "one1", ".new/model": "tw"}


def test_largest_of_several_files_is_cut(cut):
    """The files before it are whole, and those after it are still the old ones."""
    before = {"optimizer": "1", "model": "one1", "latest": "1"}
    after = {"optimizer": "2", "model": "two2", "latest": "2"}
    state, _ = cut(before, after, "write optimizer", "write model", "write latest", count=3)
    assert state == {"optimizer": "2", "model": "tw", "latest": "1"}


def test_file_that_was_only_opened_is_not_cut(cut):
    """A restarted job maps the copy that it reads, and writes the other one."""
    before, after = {"a": "first!", "b": "old"}, {"a": "first!", "b": "new"}
    assert cut(before, after, "write a", "write b", count=2)[0] == {"a": "first!", "b": "n"}


def test_checkpoint_that_stays_the_same_is_unclear(cut):
    with pytest.raises(Unclear, match="only opens"):
        cut({"a": "same"}, {"a": "same"}, "write a")


def test_database_is_unclear(cut):
    with pytest.raises(Unclear, match="stays open"):
        cut({"db": "1"}, {"db": "2"}, "write db-journal", "remove db-journal")


def test_files_from_elsewhere_are_unclear(cut):
    with pytest.raises(Unclear, match="complete files are moved"):
        cut({}, {"state": "1"}, "rename state")


SECRET = "-> ../author/id"
"""A link that leads out of both states, to a file of the author."""


@pytest.fixture
def author(tmp_path):
    (tmp_path / "author").mkdir()
    (tmp_path / "author" / "id").write_text("TOP SECRET")
    return tmp_path / "author"


@pytest.mark.parametrize(
    ("before", "events"),
    [
        pytest.param({}, ("write t", "rename ckpt t"), id="renamed"),
        pytest.param({}, ("write ckpt",), id="written"),
        pytest.param({"ckpt": "old"}, ("write ckpt",), id="instead-of-a-file"),
        pytest.param({"ckpt/a": "old"}, ("rename ckpt t",), id="instead-of-a-directory"),
    ],
)
def test_link_is_never_cut(cut, author, before, events):
    with pytest.raises(Unclear, match="`ckpt` is a link"):
        cut(before, {"ckpt": SECRET}, *events, count=2)


@pytest.mark.parametrize("link", ["-> ../author", "-> ../author/new"])
def test_nothing_is_written_through_a_link(cut, author, link):
    """A directory of the new state has the name of a link in the old one."""
    before, after = {"d": link, "last": "1"}, {"d/id": "mine", "d/new/b": "b", "last": "the last"}
    state, _ = cut(before, after, "write d/id", "write d/new/b", "write last", count=3)
    assert state == {"d/id": "mine", "d/new/b": "b", "last": "the "}
    assert [path.name for path in author.iterdir()] == ["id"] and (author / "id").read_text() == "TOP SECRET"


def test_other_links_stay(cut, author):
    before = {"latest": SECRET, "state": "one1"}
    assert cut(before, {**before, "state": "two2"}, "write state")[0] == {"latest": "TOP SECRET", "state": "tw"}


@pytest.mark.parametrize("order", [1, -1])
def test_files_of_hosts_are_not_copied_through_a_link_of_another(tmp_path, author, order):
    """One host writes a link, the other one a file below that name."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "id").write_text("mine")
    (tmp_path / "link").symlink_to("../author")
    originals = [("d", str(tmp_path / "link")), ("d/id", str(tmp_path / "d" / "id"))]
    copy_files(dict(originals[::order]), str(tmp_path / "target"))
    assert os.readlink(tmp_path / "target" / "d") == "../author"
    assert (author / "id").read_text() == "TOP SECRET"


def test_checkpoints_below_many_directories_are_copied(tmp_path):
    """Neither `shutil.copytree` nor `os.makedirs` can: they call themselves for each."""
    deep = tmp_path
    for _ in range(1200):
        deep /= "d"
        deep.mkdir()
    (deep / "state").write_text("1")
    copy_files(files_below(str(tmp_path)), str(tmp_path / "t"))
    assert len(files_below(str(tmp_path / "t"))) == 1
    remove_tree(str(tmp_path))


def test_half_of_a_large_file_is_copied_in_pieces(tmp_path):
    """Also a file that is larger than the memory of this machine; holes stay holes."""
    for name, size in (("before", 2), ("after", 1 << 30)):
        (tmp_path / name).mkdir()
        with (tmp_path / name / "state").open("wb") as file:
            file.write(b"x")
            file.truncate(size)
            file.seek(size // 2 - 1)
            file.write(b"y")
    changes = timeline("0 write state").changes
    tracemalloc.start()
    try:
        cut_checkpoint(str(tmp_path / "before"), str(tmp_path / "after"), changes, 1, str(tmp_path / "cut"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    part = tmp_path / "cut/state"
    with part.open("rb") as file:
        assert (file.read(2), file.seek(-1, os.SEEK_END), file.read()) == (b"x\0", (1 << 29) - 1, b"y")
    assert peak < 64 << 20
    if (tmp_path / "after/state").stat().st_blocks * 512 < 1 << 20:  # this file system has holes
        assert part.stat().st_blocks * 512 < 8 << 20
