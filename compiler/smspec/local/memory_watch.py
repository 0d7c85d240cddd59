"""The memory that each host may use, what its processes use, and the end of the largest one when memory runs out.

Limits of the kernel do not fit: RLIMIT_AS and RLIMIT_DATA hold for each process alone, and count what it has only
reserved. Control groups need an administrator, or a container engine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from smspec.local.engines.engine import RunningHost
from smspec.local.events import Remark, Reporter
from smspec.local.machine_processes import MachineProcess
from smspec.local.request import RunFailed
from smspec.local.training_request import Host
from smspec.local.units import size
from smspec.service.facts.instances import instance

AUTO: Literal["auto"] = "auto"
_TURN_SECONDS = 0.2
_NEAR = 0.8
"""Below this share of the limit, shared pages may count several times: the exact number takes far longer to get."""


def memory_limits(wanted: int | Literal["auto"] | None, hosts: Sequence[Host]) -> dict[str, int]:
    """Return host → bytes; empty without a limit. ``auto``: the memory of its instance type. Raise RunFailed."""
    if wanted is None:
        return {}
    if wanted != AUTO:
        return {host.name: wanted for host in hosts}
    limits = {}
    for host in hosts:
        facts = instance(host.instance_type)
        if facts is None or facts.memory_bytes is None:
            raise RunFailed(
                2, f"--memory auto: the memory of `{host.instance_type}` is unknown; pass a size such as --memory 16GB"
            )
        limits[host.name] = facts.memory_bytes
    return limits


class MemoryWatch:
    """Measures the processes of each host several times per second, and kills the largest one above the limit.

    The kernel of an instance does the same; what follows is up to the job. ``limits``: host → bytes;
    ``peaks``: the most that was measured.
    """

    def __init__(self, limits: Mapping[str, int], hosts: Sequence[RunningHost], reporter: Reporter) -> None:
        self._limits = limits
        self._hosts = hosts
        self._reporter = reporter
        self._next = 0.0
        self.peaks: dict[str, int] = {}
        self._killed: dict[str, int] = {}

    def turn(self) -> None:
        """Look at all hosts, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        for host in self._hosts:
            if not host.ended():
                self._look_at(host, self._limits[host.host])
        self._next = time.monotonic() + _TURN_SECONDS

    def _look_at(self, host: RunningHost, limit: int) -> None:
        processes = host.processes()
        if self._killed.get(host.host) in {process.number for process in processes}:
            return  # its memory is not yet free
        used = sum(_resident(process) for process in processes)
        if used > _NEAR * limit:
            shares = [(_share(process), process) for process in processes]
            used = sum(share for share, _ in shares)
            if used > limit:
                self._kill_largest(host, shares, used, limit)
        self.peaks[host.host] = max(used, self.peaks.get(host.host, 0))

    def _kill_largest(
        self, host: RunningHost, shares: Sequence[tuple[int, MachineProcess]], used: int, limit: int
    ) -> None:
        # Not the first process: without it, nothing would report how the job ended.
        share, process = max(shares[1:] or shares, key=lambda pair: pair[0])
        with suppress(OSError):
            host.kill_process(process.number)
            self._killed[host.host] = process.number
            text = (
                f"out of memory: the processes of {host.host} used {size(used)}, the limit is {size(limit)}; "
                f"killed the largest one, with {size(share)}: {_named(process)}"
            )
            self._reporter.report(Remark(text=text, warning=True))


def _named(process: MachineProcess) -> str:
    """Return the program and its script: other words may be secrets."""
    words = [word.decode(errors="replace") for word in process.words if not word.startswith(b"-")]
    return " ".join(map(os.path.basename, words[:2]))


def _resident(process: MachineProcess) -> int:
    """Return the bytes that a process has in memory, shared ones included."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{process.number}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _share(process: MachineProcess) -> int:
    """Return its proportional set size in bytes: each shared page counts once over all processes."""
    with suppress(OSError), open(f"/proc/{process.number}/smaps_rollup", "rb") as file:
        return next(_kibibytes(file.read()), 0) << 10
    return _resident(process)


def _kibibytes(rollup: bytes) -> Iterator[int]:
    for line in rollup.splitlines():
        if line.startswith(b"Pss:"):
            yield int(line.split()[1])
