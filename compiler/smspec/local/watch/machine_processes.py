"""The processes of this machine, or of a container, as /proc lists them, what a host used, and the end of orphans.

An orphan outlives the guard of its host, because a script has killed that guard.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Protocol

from smspec.source.frozen import dataclass
from smspec.workspace.process_guard import become_subreaper, children

_DEADLINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineProcess:
    """A living process: its words, and the environment with which it started."""

    number: int
    parent: int
    words: tuple[bytes, ...]
    environment: bytes

    @property
    def command(self) -> str:
        """The command line for messages."""
        return b" ".join(self.words).decode(errors="replace")

    def variable(self, name: str) -> str:
        """Return a variable that it had when it started, or nothing."""
        head = f"{name}=".encode()
        found = (each[len(head) :] for each in self.environment.split(b"\0") if each.startswith(head))
        return next(found, b"").decode(errors="replace")


class ProcessFiles(Protocol):
    """The files below /proc."""

    def numbers(self) -> list[str]:
        """Return the numbers of all processes."""

    def read(self, process: str, name: str) -> bytes:
        """Return the content of a file of a process. Raise OSError if there is none."""


class OwnFiles:
    """Those of this machine."""

    def numbers(self) -> list[str]:
        return [*filter(str.isdigit, os.listdir("/proc"))]

    def read(self, process: str, name: str) -> bytes:
        with open(f"/proc/{process}/{name}", "rb") as file:
            return file.read()


_OWN_FILES = OwnFiles()


def with_those_below(root: int, files: ProcessFiles = _OWN_FILES) -> list[MachineProcess]:
    """Return a process, then those below it."""
    return [*_described(root, 0, files), *below(root, files)]


def below(root: int, files: ProcessFiles = _OWN_FILES) -> list[MachineProcess]:
    """Return the processes below one: parents first, and the older ones of a level first.

    No process is below itself: a container may list anything, and numbers are reused while they are read.
    """
    children: dict[int, list[tuple[int, int]]] = {}
    for number, parent, started in _living(files):
        children.setdefault(parent, []).append((started, number))
    found: list[MachineProcess] = []
    level = [root]
    seen = {root}
    while level:
        ordered = sorted(
            (*child, parent) for parent in level for child in children.get(parent, ()) if child[1] not in seen
        )
        seen.update(number for _, number, _ in ordered)
        level = [number for _, number, _ in ordered]
        found += [process for _, number, parent in ordered for process in _described(number, parent, files)]
    return found


def _living(files: ProcessFiles) -> Iterator[tuple[int, int, int]]:
    """Yield (number, parent, time of start) of every process."""
    for name in files.numbers():
        try:
            # pid (name of the program) state parent …; the name may contain anything, even parentheses
            state, parent, *rest = files.read(name, "stat").rpartition(b")")[2].split()
            if state not in (b"Z", b"X"):
                yield int(name), int(parent), int(rest[17])
        except (OSError, ValueError, IndexError):
            continue


def _described(number: int, parent: int, files: ProcessFiles) -> Iterator[MachineProcess]:
    try:
        words = tuple(files.read(str(number), "cmdline").rstrip(b"\0").split(b"\0"))
        environment = files.read(str(number), "environ")
    except OSError:
        return  # it has ended, or belongs to a different user
    yield MachineProcess(number=number, parent=parent, words=words, environment=environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the processes of a host used. ``peak_memory``: the most bytes of one process; ``cpu_seconds`` are of all.

    ``total_memory``: the most that all had together, if the engine measures it. ``peak_memory`` is that of the largest
    process: the kernel adds up only the time of ended processes, and a sum needs samples or a control group, which an
    ordinary user often cannot create.
    """

    cpu_seconds: float
    peak_memory: int
    total_memory: int | None = None


def read_usage(text: bytes) -> Usage | None:
    """Return the usage that a guard wrote; None if it was killed first."""
    try:
        seconds, memory = json.loads(text)
    except ValueError:
        return None
    return Usage(cpu_seconds=seconds, peak_memory=memory)


class Leftovers:
    """In this context, orphans become children of this process, so that it can find them.

    Only Linux supports this; elsewhere only the process group of each host is ended.
    """

    def __enter__(self) -> Leftovers:
        self._before = children()
        become_subreaper(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        become_subreaper(False)

    def _end(self) -> None:
        """Kill every child that did not exist at the start, until none is left."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline:
            left = children() - self._before
            if not left:
                break
            for process in left:
                with suppress(ProcessLookupError, ChildProcessError):
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
