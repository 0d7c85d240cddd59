"""Kills, full disks, and read-only disks leave the old tree or the new one."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from smspec.output.atomic_file import OutputFailed
from smspec.output.writing import differences, write_tree
from smspec.render.tree_rendering import render_tree
from support.render.plan_samples import build_inputs, plan

STRACE = shutil.which("strace")
CHANGING = ("mkdir", "chmod", "fchmod", "write", "fsync", "rename", "renameat2", "unlinkat", "rmdir", "unlink")
ROOTS = [str(Path(__file__).parents[3] / name) for name in ("tests", "compiler", "runtime")]
MARK = "/smspec-begins-to-write"

BUILD = f"""
import os, pathlib, sys
from support.render.plan_samples import build_inputs, plan
from smspec.output import writing
from smspec.render.tree_rendering import render_tree
tree = render_tree(plan(), build_inputs(pathlib.Path(sys.argv[1]), {{"new.py": b"new"}}), "6" * 64)
os.path.exists({MARK!r})
writing.write_tree(tree, sys.argv[2])
"""


def trees(tmp_path):
    old = render_tree(plan(), build_inputs(tmp_path / "of_old", {"old.py": b"old", "pkg/b.py": b"b"}), "5" * 64)
    new = render_tree(plan(), build_inputs(tmp_path / "of_new", {"new.py": b"new"}), "6" * 64)
    return old, new


def build_traced(tmp_path, out, *options):
    words = [
        STRACE,
        "-f",
        "-qq",
        "-o",
        tmp_path / "trace",
        *options,
        sys.executable,
        "-c",
        BUILD,
        tmp_path / "of_new",
        out,
    ]
    return subprocess.run(
        words,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(ROOTS), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )


def points(tmp_path, out):
    """Run once unharmed and return (system call, how many to let pass) for the calls that change something."""
    done = build_traced(tmp_path, out, "-e", f"trace={','.join(CHANGING)},stat,newfstatat,statx,access,faccessat")
    if done.returncode != 0 and "ptrace" in done.stderr:
        pytest.skip(f"strace cannot trace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    counts, found, began = dict.fromkeys(CHANGING, 0), [], False
    for line in (tmp_path / "trace").read_text().splitlines():
        began = began or MARK in line
        match = re.match(r"\d+ +(\w+)\(", line)
        if match and match[1] in counts:
            counts[match[1]] += 1
            if began:
                found.append((match[1], counts[match[1]]))
    assert began
    assert {"mkdir", "write", "fsync", "renameat2"} <= {name for name, _ in found}
    return found


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_kill_at_any_call_leaves_the_old_or_new_tree(tmp_path):
    old, new = trees(tmp_path)
    out = tmp_path / "build/job"
    write_tree(old, str(out))
    every = points(tmp_path, out)
    rare = [point for point in every if point[0] in ("rename", "renameat2", "mkdir", "rmdir")]
    usual = [point for point in every if point not in rare]
    outcomes = set()
    for name, number in [*rare, *usual[:: max(1, len(usual) // 8)]]:
        write_tree(old, str(out))
        done = build_traced(tmp_path, out, "-e", f"trace={name}", "-e", f"inject={name}:signal=KILL:when={number}")
        assert done.returncode == -signal.SIGKILL, (name, number, done.stderr)
        states = [differences(tree, str(out)) == [] for tree in (old, new)]
        assert any(states), f"half a tree after {name} number {number}: {differences(new, str(out))}"
        outcomes.add(states.index(True))
        write_tree(new, str(out))
        assert [path.name for path in out.parent.iterdir()] == ["job"], f"left over after {name} number {number}"
    assert outcomes == {0, 1}, "both sides of the exchange were seen"


@contextmanager
def small_disk(tmp_path, options):
    """Mount a tmpfs; only root may."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@ROOT_ONLY
@pytest.mark.parametrize("free", [0, 4, 8, 16, 24, 28])
def test_full_disk_leaves_the_old_tree(tmp_path, free):
    old, new = trees(tmp_path)
    with small_disk(tmp_path, "size=160k") as disk:
        out = disk / "job"
        write_tree(old, str(out))
        with open(disk / "filler", "wb") as filler:
            available = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            filler.write(bytes(available - free * 1024))
        with pytest.raises(OutputFailed, match="no space left on device") as raised:
            write_tree(new, str(out))
        assert str(out) in str(raised.value)
        assert differences(old, str(out)) == []
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "job"]
        (disk / "filler").unlink()
        write_tree(new, str(out))
        assert differences(new, str(out)) == []


@ROOT_ONLY
def test_disk_without_free_inodes_leaves_the_old_tree(tmp_path):
    old, new = trees(tmp_path)
    with small_disk(tmp_path, "size=1m,nr_inodes=20") as disk:
        write_tree(old, str(disk / "job"))
        with pytest.raises(OutputFailed, match="no space left on device"):
            write_tree(new, str(disk / "job"))
        assert differences(old, str(disk / "job")) == []
        assert [path.name for path in disk.iterdir()] == ["job"]


@ROOT_ONLY
def test_read_only_disk_is_reported(tmp_path):
    old, new = trees(tmp_path)
    with small_disk(tmp_path, "size=1m") as disk:
        write_tree(old, str(disk / "job"))
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(OutputFailed, match=r"job`: read-only file system"):
            write_tree(new, str(disk / "job"))
        with pytest.raises(OutputFailed, match="read-only file system"):
            write_tree(new, str(disk / "deeper/job"))
        assert differences(old, str(disk / "job")) == []
