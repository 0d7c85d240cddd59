"""What a container uses, from the files of both versions of control groups."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from smspec.local.engines.containers.container_host import ControlGroup

CONTAINER = "5f" * 32


def write(directory, **texts):
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (directory / name.replace("__", ".")).write_text(text)


def version_1(root, seconds, megabytes, place="docker/{}"):
    write(root / "cpuacct" / place.format(CONTAINER), cpuacct__usage=f"{int(seconds * 1e9)}\n")
    stat = f"cache 9\nrss 5\ntotal_cache 900000000\ntotal_rss {megabytes}000000\ntotal_shmem 1000000\n"
    write(root / "memory" / place.format(CONTAINER), memory__stat=stat, cgroup__procs=f"{os.getpid()}\n")


def version_2(root, seconds, megabytes, place="system.slice/docker-{}.scope"):
    write(root, cgroup__controllers="cpu memory\n")
    stat = f"anon {megabytes}000000\nfile 900000000\nshmem 1000000\n"
    write(
        root / place.format(CONTAINER),
        cpu__stat=f"usage_usec {int(seconds * 1e6)}\nuser_usec 1\n",
        memory__stat=stat,
        cgroup__procs=f"{os.getpid()}\n",
    )


@pytest.mark.parametrize(
    ("version", "place"),
    [
        (version_1, "docker/{}"),
        (version_1, "machine.slice/libpod-{}.scope"),
        (version_2, "system.slice/docker-{}.scope"),
        (version_2, "user.slice/user-1000.slice/libpod-{}.scope"),
    ],
)
def test_usage_is_the_most_that_was_seen(tmp_path, version, place):
    """Files in the cache of the disk are not memory that a job needs."""
    version(tmp_path, 1.5, 8_000, place)
    group = ControlGroup(CONTAINER, str(tmp_path))
    group.look()
    version(tmp_path, 2.25, 3, place)
    group.look(at_once=True)
    assert group.usage is not None
    assert (group.usage.cpu_seconds, group.usage.total_memory) == (2.25, 8_001_000_000)
    assert 1 << 20 < group.usage.peak_memory < 8_000_000_000


def test_ended_container_keeps_its_usage(tmp_path):
    version_2(tmp_path, 1.5, 8_000)
    group = ControlGroup(CONTAINER, str(tmp_path))
    group.look()
    (tmp_path / f"system.slice/docker-{CONTAINER}.scope/cpu.stat").unlink()
    group.look(at_once=True)
    assert group.usage is not None
    assert group.usage.cpu_seconds == 1.5


@pytest.mark.parametrize("container", ["6f" * 32, "5f", ""])
def test_other_containers_do_not_count(tmp_path, container):
    version_1(tmp_path, 1, 1)
    group = ControlGroup(container, str(tmp_path))
    group.look()
    assert group.usage is None


@pytest.mark.parametrize("version", [version_1, version_2])
def test_all_processes_are_killed_at_once(tmp_path, version):
    version(tmp_path, 1, 1)
    sleepers = [subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"]) for _ in range(2)]
    for path in tmp_path.rglob("cgroup.procs"):
        path.write_text("".join(f"{process.pid}\n" for process in sleepers))
    assert ControlGroup(CONTAINER, str(tmp_path)).kill()
    assert [process.wait(20) for process in sleepers] == [-9, -9]


@pytest.mark.parametrize("listed", ["", "0\n"])
def test_processes_out_of_sight_are_left_to_the_engine(tmp_path, listed):
    """A process of a namespace above is listed as 0, and a signal to 0 would end these tests."""
    version_2(tmp_path, 1, 1)
    for path in tmp_path.rglob("cgroup.procs"):
        path.write_text(listed)
    assert not ControlGroup(CONTAINER, str(tmp_path)).kill()
    assert not ControlGroup("6f" * 32, str(tmp_path)).kill()
