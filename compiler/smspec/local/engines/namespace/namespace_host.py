"""One running host: its first process belongs to the cell, its log comes through a pipe."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

from smspec.local.engines.namespace.cell_process import CellProcess
from smspec.local.watch.host_log import HostLog
from smspec.local.watch.machine_processes import MachineProcess, Usage, below

_READ = 1 << 16
_KILLED = 128 + signal.SIGKILL


class NamespaceHost:
    """A host of a cell. ``output``: the end of a pipe from which its output is read."""

    def __init__(self, host: str, cell: CellProcess, output: int, log: str) -> None:
        self.host = host
        self.exit_status: int | None = None
        self.refusal = ""
        self.usage: Usage | None = None
        self.seconds = 0.0
        self.descriptor = output
        self._cell = cell
        self._log = HostLog(log)
        self._started = time.monotonic()
        self._is_open = True

    def lines(self) -> Iterator[str] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        data = os.read(self.descriptor, _READ)
        return self._log.take(data) if data else None

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

    def close(self) -> Iterator[str]:
        """Close the log and yield a last line without a line feed."""
        if self._is_open:
            os.close(self.descriptor)
            self._is_open = False
        yield from self._log.close()
