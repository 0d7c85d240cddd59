"""Cache of Python environments: complete entries only, and an error for a full disk."""

import os

import pytest

from smspec.local.python.cache import EnvironmentCache
from smspec.local.running.request import RunFailed


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
