"""Cache of Python environments: complete entries only, and an error for a full disk."""

import contextlib
import fcntl
import os
from pathlib import Path

import pytest

from smspec.local.python.environment import EnvironmentCache
from smspec.local.running.request import RunFailed
from smspec.source.real_file import remove_tree


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no disk that is always full")
def test_full_cache_disk_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path))

    def make(path, lock):
        with open("/dev/full", "w", encoding="utf-8") as file:
            file.write("x")

    with EnvironmentCache() as cache, pytest.raises(RunFailed) as refused:
        cache.hold("key", make, lambda: None)
    assert f"`{tmp_path}/environments`: no space left on device; set SMSPEC_CACHE_DIR" in str(refused.value)
    assert not cache.has("key")
    assert os.listdir(tmp_path / "environments") == ["key.lock"]


@pytest.mark.parametrize("depth", [300, 1300])
def test_deep_package_is_kept_or_refused_in_words(tmp_path, monkeypatch, depth):
    """A wheel may nest its directories deeper than functions may call each other."""
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))

    def make(path, lock):
        for _ in range(depth):
            path = Path(path, "a")
            path.mkdir()

    with EnvironmentCache() as cache:
        for _ in range(2):
            with contextlib.suppress(RunFailed):
                cache.hold("a" * 16, make, lambda: None)
    remove_tree(str(tmp_path / "cache"))  # the runner of the tests recurses, too


def test_complete_environment_is_not_waited_for(tmp_path, monkeypatch):
    """Who can read a shared cache can lock its files, as long as they like."""
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))
    waits = []
    with EnvironmentCache() as cache:
        path = cache.hold("key", lambda path, lock: None, waits.append)
    with open(f"{path}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with EnvironmentCache() as cache:
            assert cache.hold("key", lambda path, lock: pytest.fail("made again"), waits.append) == path
    assert waits == []
