"""Temporary directories: gone afterwards, and those of killed commands gone with the next one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from smspec.cli.scratch import PREFIX, scratch_directory

HOLD = """
import sys
from smspec.cli.scratch import scratch_directory
with scratch_directory() as directory:
    print(directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def hold() -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def test_it_is_gone_afterwards(parent):
    with scratch_directory() as directory:
        assert os.path.dirname(directory) == str(parent)
        with open(os.path.join(directory, "file"), "w") as file:
            file.write("x")
    assert list(parent.iterdir()) == []


def test_what_a_killed_command_left_is_removed_by_the_next(parent):
    killed, abandoned = hold()
    living, used = hold()
    killed.kill()
    killed.communicate()
    assert os.path.isdir(abandoned)
    with scratch_directory() as directory:
        assert sorted(map(str, parent.iterdir())) == sorted([directory, used])
    living.communicate("")
    assert list(parent.iterdir()) == []


def test_what_has_no_lock_is_removed_when_it_is_old(parent):
    """A young one may be in the making; a link and the directory of another name are not ours."""
    for name, age in (("old", 7200), ("young", 60)):
        path = parent / (PREFIX + name)
        path.mkdir()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    (parent / "elsewhere").mkdir()
    (parent / (PREFIX + "link")).symlink_to(parent / "elsewhere")
    with scratch_directory():
        pass
    assert sorted(path.name for path in parent.iterdir()) == ["elsewhere", PREFIX + "link", PREFIX + "young"]
