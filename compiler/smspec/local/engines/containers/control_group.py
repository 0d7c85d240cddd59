"""The processes of a container and what they use, from the files of its control group on this machine.

The files end with the container, so they are read while it runs.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from smspec.local.machine_processes import Usage

_ROOT = "/sys/fs/cgroup"
_IDENTIFIER = 64
"""The length of an identifier; less could be a part of another one."""

_TURN_SECONDS = 0.1
_SEARCH_SECONDS = 5.0
_MICROSECONDS, _NANOSECONDS = 1e-6, 1e-9


class ControlGroup:
    """Both versions of control groups. ``container``: its full identifier, which the directories have in their names.

    ``usage`` is None if the engine runs on a different machine, or keeps no such files.
    """

    def __init__(self, container: str, root: str = _ROOT) -> None:
        self.usage: Usage | None = None
        self._container = container if len(container) == _IDENTIFIER else ""
        self._root = root
        self._directories: tuple[str, str] | None = None
        self._next = 0.0
        self._search_ends = time.monotonic() + _SEARCH_SECONDS

    def look(self, *, at_once: bool = False) -> None:
        """Read the files, if it is time."""
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + _TURN_SECONDS
        if self._directories is None:
            if now > self._search_ends or not self._container:
                return
            self._directories = self._found()
        if self._directories is not None:
            with suppress(OSError, ValueError, KeyError):
                self._read(*self._directories)

    def kill(self) -> bool:
        """Kill all processes at once: an engine takes so long that a job would go on. Return whether that worked."""
        self.look(at_once=True)
        if self._directories is None:
            return False
        try:
            numbers = [int(number) for number in _processes(self._directories[1])]
            if not numbers or 0 in numbers:  # a process that this one cannot see is 0, which would mean its own group
                return False
            for number in numbers:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        except (OSError, ValueError):
            return False
        return True

    def _found(self) -> tuple[str, str] | None:
        """Return the directories with the files about CPU time and about memory."""
        if os.path.exists(os.path.join(self._root, "cgroup.controllers")):
            directory = self._below(self._root)
            return None if directory is None else (directory, directory)
        cpu, memory = (self._below(os.path.join(self._root, name)) for name in ("cpuacct", "memory"))
        return None if cpu is None or memory is None else (cpu, memory)

    def _below(self, root: str) -> str | None:
        for above, names, _ in os.walk(root):
            for name in names:
                if self._container in name and "conmon" not in name:  # a monitor of podman has one of its own
                    return os.path.join(above, name)
        return None

    def _read(self, cpu: str, memory: str) -> None:
        seconds = _cpu_seconds(cpu)
        members = dict(line.split() for line in _text(memory, "memory.stat").splitlines())
        together = sum(
            int(members.get(f"total_{old}", members.get(new, 0))) for old, new in (("rss", "anon"), ("shmem", "shmem"))
        )
        largest = max(map(_most_resident, _processes(memory)), default=0)
        known = self.usage or Usage(cpu_seconds=0.0, peak_memory=0, total_memory=0)
        largest = max(known.peak_memory, largest)
        self.usage = Usage(
            cpu_seconds=max(known.cpu_seconds, round(seconds, 3)),
            peak_memory=largest,
            # The peak of a process is exact, while a short one of all together is missed.
            total_memory=max(known.total_memory or 0, together, largest),
        )


def _cpu_seconds(directory: str) -> float:
    if os.path.exists(os.path.join(directory, "cpuacct.usage")):
        return int(_text(directory, "cpuacct.usage")) * _NANOSECONDS
    members = dict(line.split() for line in _text(directory, "cpu.stat").splitlines())
    return int(members["usage_usec"]) * _MICROSECONDS


def _processes(directory: str) -> Iterator[str]:
    for above, _, files in os.walk(directory):
        if "cgroup.procs" in files:
            with suppress(OSError):  # a group of threads
                yield from _text(above, "cgroup.procs").split()


def _most_resident(process: str) -> int:
    """Return the most bytes that a process has had in memory."""
    with suppress(OSError, ValueError, IndexError):
        for line in _text("/proc", process, "status").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def _text(*path: str) -> str:
    with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
        return file.read()
