"""The state that a host leaves that is lost while it writes a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from smspec.rehearsal.cut_checkpoint import Unclear, cut_checkpoint
from support.rehearsal.trials import timeline


@pytest.fixture
def cut(tmp_path):
    """Cut a checkpoint between two states, file → text; return the state and what was cut."""

    def run(before, after, *events, count=1):
        for name, files in (("before", before), ("after", after)):
            (tmp_path / name).mkdir()
            for path, text in files.items():
                (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
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
