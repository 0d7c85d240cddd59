"""The processes of this machine, or of a container, as /proc lists them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


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
    """Return the processes below one: parents first, and the older ones of a level first."""
    children: dict[int, list[tuple[int, int]]] = {}
    for number, parent, started in _living(files):
        children.setdefault(parent, []).append((started, number))
    found: list[MachineProcess] = []
    level = [root]
    while level:
        ordered = sorted((*child, parent) for parent in level for child in children.get(parent, ()))
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
