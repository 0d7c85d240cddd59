"""The cell of a run as a child process: it starts the hosts, signals them, and reports how they end."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress

from smspec.local.engines.namespace.availability import cell_words
from smspec.local.engines.namespace.user_range import UserRange
from smspec.local.running.request import RunFailed
from smspec.local.watch.machine_processes import Usage
from smspec.workspace.process_guard import end_by_closing_stdin

_READ = 1 << 16
_STOP_SECONDS = 60.0
"""Files that belong to other users may have to get their owner back."""


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
