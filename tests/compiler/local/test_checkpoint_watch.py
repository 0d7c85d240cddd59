"""Changes of checkpoint directories are noticed in order, with inotify and without."""

from __future__ import annotations

import os

import pytest

from smspec.local.watch import file_watch
from smspec.local.watch.file_watch import CheckpointWatch


@pytest.fixture
def watch(tmp_path):
    watch = CheckpointWatch({"algo-1": str(tmp_path)})
    yield watch
    watch.close()


def changes(watch):
    return [(change.kind, change.path, change.source) for change in watch.changes()]


def test_written_and_renamed_files_are_noticed(watch, tmp_path):
    (tmp_path / "state.part").write_text("1")
    os.replace(tmp_path / "state.part", tmp_path / "state")
    (tmp_path / "state").unlink()
    assert changes(watch) == [
        ("written", "state.part", None),
        ("renamed", "state", "state.part"),
        ("removed", "state", None),
    ]
    assert changes(watch) == []


def test_new_directories_are_watched(watch, tmp_path):
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "early").write_text("1")
    assert changes(watch) == [("written", "new/deep/early", None)]
    (tmp_path / "new" / "deep" / "late").write_text("1")
    os.rename(tmp_path / "new", tmp_path / "step")
    (tmp_path / "step" / "last").write_text("1")
    assert changes(watch) == [
        ("written", "new/deep/late", None),
        ("renamed", "step", "new"),
        ("written", "step/last", None),
    ]


def test_existing_files_are_not_reported(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "state").write_text("1")
    watch = CheckpointWatch({"algo-1": str(tmp_path)})
    assert changes(watch) == []
    watch.close()


def test_changes_are_found_without_inotify(tmp_path, monkeypatch):
    monkeypatch.setattr(file_watch.sys, "platform", "darwin")
    (tmp_path / "gone").write_text("1")
    watch = CheckpointWatch({"algo-1": str(tmp_path)})
    (tmp_path / "gone").unlink()
    (tmp_path / "state").write_text("1")
    assert changes(watch) == [("written", "state", None), ("removed", "gone", None)]
    (tmp_path / "part").write_text("2")
    os.replace(tmp_path / "part", tmp_path / "state")
    assert changes(watch) == [("renamed", "state", None)]
