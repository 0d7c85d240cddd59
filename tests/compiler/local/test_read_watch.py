"""Files that hosts open are noticed, with the bounds of when."""

import os
import sys

import pytest

from smspec.local.watch import file_watch
from smspec.local.watch.file_watch import ReadWatch

KEY = "algo-1", "train"


@pytest.fixture
def now():
    return [100.0]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 30)
    (tmp_path / "deep" / "b").write_bytes(b"x" * 70)
    return tmp_path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's")
def test_opened_files_are_counted_with_their_time(place, now):
    now[0] = 90.0
    watch = ReadWatch({KEY: str(place)}, lambda: now[0])
    now[0] = 100.0
    watch.begin()
    now[0] = 101.0
    watch.tick()
    (place / "deep" / "b").read_bytes()
    os.listdir(place)
    (place / "new").write_text("written by the script")
    now[0] = 101.2
    watch.tick()
    (place / "a").read_bytes()
    now[0] = 103.0
    found = watch.close()[KEY]
    assert (found.count, found.passes) == (2, 1.0)
    assert tuple(round(moment, 6) for moment in (*found.first, *found.last)) == (1.0, 1.2, 1.2, 3.0)
    assert watch.close() is not None, "a second time"


def test_without_inotify_no_channel_is_known(place, monkeypatch):
    monkeypatch.setattr(file_watch.sys, "platform", "darwin")
    watch = ReadWatch({KEY: str(place)})
    (place / "a").read_bytes()
    watch.tick()
    assert watch.close() == {}
    assert ReadWatch({}).close() == {}
