"""The cell of a run as a child process: it starts the hosts, signals them, and reports how they end.

Its output comes through pipes. Files can have several owners if the author has a range of users (subuid(5)).
"""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from smspec.local.engines.namespace.availability import cell_words
from smspec.local.running.request import RunFailed
from smspec.local.watch.host_log import HostLog, LogText
from smspec.local.watch.machine_processes import MachineProcess, Usage, below
from smspec.source.frozen import dataclass
from smspec.source.real_file import OUTSIDE_PROJECTS, program_named
from smspec.workspace.process_guard import end_by_closing_stdin

_FILES = ("/etc/subuid", "/etc/subgid")
_PROGRAMS = ("newuidmap", "newgidmap")
_ENOUGH = 65_535
"""Users 1 to 65,535; user 65,534 is the one without rights in images."""

_READ = 1 << 16
_STOP_SECONDS = 60.0
"""Files that belong to other users may have to get their owner back."""

_KILLED = 128 + signal.SIGKILL


@dataclass(frozen=True, slots=True)
class UserRange:
    """The first user and the first group of the author's range, which follow root in the namespace."""

    first_user: int
    first_group: int

    def map(self, process: int) -> bool:
        """Map users and groups of a process that has entered a new namespace; return whether that succeeded."""
        own = os.geteuid(), os.getegid()
        for program, first, mine in zip(_PROGRAMS, (self.first_user, self.first_group), own, strict=True):
            words = [program, str(process), "0", str(mine), "1", "1", str(first), str(_ENOUGH)]
            ended = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, cwd=OUTSIDE_PROJECTS, check=False
            )
            if ended.returncode:
                return False
        return True


def own_range() -> UserRange | None:
    """Return the range of the author, if this machine has one and the programs that map it."""
    if not all(map(program_named, _PROGRAMS)):
        return None
    firsts = [_first(path) for path in _FILES]
    return None if None in firsts else UserRange(*[first for first in firsts if first is not None])


def _first(path: str) -> int | None:
    user = os.geteuid()
    try:
        names = {str(user), pwd.getpwuid(user).pw_name}
    except KeyError:
        names = {str(user)}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            entries = [line.strip().split(":") for line in file]
    except OSError:
        return None
    for entry in entries:
        is_own = len(entry) == 3 and entry[0] in names and entry[1].isdigit() and entry[2].isdigit()
        if is_own and int(entry[2]) >= _ENOUGH:
            return int(entry[1])
    return None


class CellProcess:
    """It ends with its stdin, and with it every process of every host; so it does if smspec is killed."""

    def __init__(self, plan_file: str, logs: Sequence[int]) -> None:
        """Start the cell. ``logs``: the descriptors that it passes to the hosts."""
        self.exit_statuses: dict[str, int] = {}
        self.usages: dict[str, Usage] = {}
        self._unread = b""
        self.has_ended = False
        self.is_machine_root = self.filters_calls = False
        self._process = subprocess.Popen(
            cell_words("run", plan_file),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=tuple(logs),
            start_new_session=True,  # smspec handles Ctrl-C
        )

    @property
    def pid(self) -> int:
        """The number of its process, which is above those of the hosts."""
        return self._process.pid

    def run_hosts(self, connect: Callable[[int], bool], users: UserRange | None) -> None:
        """Start all hosts. ``connect`` gets the first process, and returns whether it has added a `tap0`.

        ``users``: the range to map, if the plan asks for one. Raise RunFailed.
        """
        started = self._next_event()
        if started["event"] == "mapping":
            self._send("mapped" if users is not None and users.map(self._process.pid) else "unmapped")
            started = self._next_event()
        process = started["pid"]
        assert isinstance(process, int)
        with suppress(BrokenPipeError):  # the next event says why
            self._send("start connected" if connect(process) else "start")
        running = self._next_event()
        self.is_machine_root = bool(running["is_machine_root"])
        self.filters_calls = bool(running["filters_calls"])

    def signal(self, verb: str, host: str) -> None:
        """Signal the first process of a host: ``terminate`` or ``kill``."""
        with suppress(BrokenPipeError):
            self._send(f"{verb} {host}")

    def update(self) -> None:
        """Read which hosts have ended, without waiting."""
        assert self._process.stdout is not None
        if self.has_ended:
            return
        os.set_blocking(self._process.stdout.fileno(), False)
        try:
            data = os.read(self._process.stdout.fileno(), _READ)
        except BlockingIOError:
            return
        self.has_ended = not data
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            event = json.loads(line)
            if event["event"] == "ended":
                self.exit_statuses[event["host"]] = event["status"]
                self.usages[event["host"]] = Usage(cpu_seconds=event["cpu"], peak_memory=event["memory"])

    def close(self) -> None:
        """End every process, and wait for it."""
        assert self._process.stdout is not None
        end_by_closing_stdin(self._process, _STOP_SECONDS)
        self._process.stdout.close()

    def _send(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n".encode())
        self._process.stdin.flush()

    def _next_event(self) -> dict[str, object]:
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            data = os.read(self._process.stdout.fileno(), _READ)
            if not data:
                raise RunFailed(3, f"the cell of the hosts did not start; its exit status is {self._process.wait()}")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        event: dict[str, object] = json.loads(line)
        if event["event"] == "failed":
            host, number = event.get("host", "the hosts"), event["errno"]
            assert isinstance(number, int)
            raise RunFailed(3, f"cannot start {host} in namespaces: {event['step']}: {os.strerror(number).lower()}")
        return event


def give_back(directories: Sequence[str], users: UserRange) -> None:
    """Make the author the owner of what a killed run left below some directories."""
    with subprocess.Popen(
        cell_words("give-back", *directories), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        process.stdin.write(b"mapped\n" if users.map(process.pid) else b"unmapped\n")
        process.stdin.close()


class NamespaceHost:
    """A running host of a cell, which closes its log."""

    def __init__(self, host: str, cell: CellProcess, log: HostLog) -> None:
        self.host = host
        self.exit_status: int | None = None
        self.refusal = self.loss = ""
        self.added: Sequence[str] = ()
        self.usage: Usage | None = None
        self.seconds = 0.0
        self._cell = cell
        self.descriptors: Sequence[int] = log.descriptors
        self._log = log
        self._started = time.monotonic()

    def read(self, descriptor: int) -> list[LogText] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        return self._log.read(descriptor)

    def ended(self) -> bool:
        """Return whether the first process has ended, and with it all others."""
        if self.exit_status is None:
            self._cell.update()
            status = self._cell.exit_statuses.get(self.host)
            if status is None and self._cell.has_ended:
                status = _KILLED  # with the cell
            if status is not None:
                self.exit_status = status
                self.usage = self._cell.usages.get(self.host)
                self.seconds = time.monotonic() - self._started
        return self.exit_status is not None

    def processes(self) -> list[MachineProcess]:
        """Return the processes of the host: those below the one that has its name in its environment."""
        everything = below(self._cell.pid)
        inside = {process.number for process in everything if process.variable("HOSTNAME") == self.host}
        for process in everything:
            if process.parent in inside:
                inside.add(process.number)  # it has replaced its environment
        return [process for process in everything if process.number in inside]

    def kill_process(self, number: int) -> None:
        """Kill one of them, by its number on this machine."""
        os.kill(number, signal.SIGKILL)

    def terminate(self) -> None:
        """Send SIGTERM to the first process."""
        self._cell.signal("terminate", self.host)

    def kill(self) -> None:
        """Kill the first process: the kernel kills the others."""
        self._cell.signal("kill", self.host)

    def close(self) -> list[LogText]:
        """Close the log and return a last line without a line feed."""
        return self._log.close()
