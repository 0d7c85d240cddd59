"""The memory that each host may use, what its processes use, and the end of the largest one when memory runs out.

Limits of the kernel do not fit: RLIMIT_AS and RLIMIT_DATA hold for each process alone, and count what it has only
reserved. Control groups need an administrator, or a container engine.
`ProcessKilling` kills one training process on request, as the kernel does then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from smspec.local.engines.engine import RunningHost
from smspec.local.record.units import size
from smspec.local.running.events import ProcessKilled, Remark, Reporter
from smspec.local.running.request import RunFailed
from smspec.local.running.training_request import Host
from smspec.local.watch.machine_processes import MachineProcess
from smspec.service.facts import instance
from smspec.source.frozen import dataclass

AUTO: Literal["auto"] = "auto"
OUT_OF_MEMORY = "out of memory: "
"""The beginning of the warning about a process that was killed."""
_TURN_SECONDS = 0.2
_NEAR = 0.8
"""Below this share of the limit, shared pages may count several times: the exact number takes far longer to get."""
RANK, WORKER, SCRIPT = "rank", "worker", "script"
"""A process that a launcher has started, one that the script has started, and the script itself."""
_RANK_VARIABLES = ("LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""torchrun and mpirun set one of them for each process that they start."""
_MULTIPROCESSING = (b"multiprocessing.spawn", b"multiprocessing.forkserver")
_RUNTIME = b"/smspec/entrypoint.py"
_INSTALLATION = (b"-m", b"pip", b"install")
"""What the runtime starts before the script, if the source has requirements or a package."""
_PATIENCE = 1.6
"""A script without other processes may still start some until so many times the moment."""


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
                f"{OUT_OF_MEMORY}the processes of {host.host} used {size(used)}, the limit is {size(limit)}; "
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


@dataclass(frozen=True, slots=True)
class TrainingProcess:
    """A process that computes, and what it is: `RANK`, `WORKER`, or `SCRIPT`."""

    kind: str
    process: MachineProcess


class ProcessKilling:
    """Kills one process of the last host, once. `turn` is called several times per second.

    ``after``: the seconds of an undisturbed run, by three. Of the time before the script starts, such as that of an
    installation or of a launcher, as much is over; the rest is counted from its start. ``needs_rank``: it waits for a
    process that a launcher starts, which may take long.
    """

    def __init__(self, after: float, needs_rank: bool, hosts: Sequence[RunningHost], reporter: Reporter) -> None:
        self._host = hosts[-1]
        self._reporter = reporter
        self._needs_rank = needs_rank
        self._after = after
        self._created = time.monotonic()
        self._begins: float | None = None
        self._ends = 0.0
        self._is_done = False

    def turn(self) -> None:
        """Kill the process if it is time."""
        now = time.monotonic()
        if self._is_done or now < (self._begins or 0.0) or self._host.ended():
            return
        found = training_process(self._host.processes())
        if found is None or (self._needs_rank and found.kind != RANK):
            return
        if self._begins is None:
            after = max(0.0, self._after - (now - self._created) / 3)
            self._begins, self._ends = now + after, now + after * _PATIENCE
        if now < (self._ends if found.kind == SCRIPT else self._begins):
            return
        with suppress(OSError):
            self._host.kill_process(found.process.number)
            self._is_done = True
            self._reporter.report(
                ProcessKilled(
                    host=self._host.host, kind=found.kind, command=found.process.command, moment=time.monotonic()
                )
            )


def training_process(processes: Sequence[MachineProcess]) -> TrainingProcess | None:
    """Return the last rank of a launcher; else the last worker of the script; else the script.

    ``processes``: those of a host, parents first. The first one is that of its container: the runtime, or the script.
    """
    if not processes:
        return None
    known = {process.number: process for process in processes}
    ranks = [process for process in processes if _rank(process) and not _rank(known.get(process.parent))]
    if ranks:
        return TrainingProcess(RANK, ranks[-1])
    first = processes[0]
    is_runtime = any(word.endswith(_RUNTIME) for word in first.words)
    started = [process for process in processes if process.parent == first.number] if is_runtime else [first]
    if not started or (is_runtime and started[-1].words[1:4] == _INSTALLATION):
        return None  # the runtime has not yet started the script
    script = started[-1]
    inside = {script.number}
    workers = []
    for process in processes:
        if process.parent in inside:
            inside.add(process.number)
            if _is_worker(process, script):
                workers.append(process)
    return TrainingProcess(WORKER, workers[-1]) if workers else TrainingProcess(SCRIPT, script)


def _rank(process: MachineProcess | None) -> str:
    return "" if process is None else next(filter(None, map(process.variable, _RANK_VARIABLES)), "")


def _is_worker(process: MachineProcess, script: MachineProcess) -> bool:
    """Return whether it runs code of the job: a fork of the script, multiprocessing's, or a Python file."""
    if process.words == script.words or any(name in word for word in process.words for name in _MULTIPROCESSING):
        return True
    return any(word.endswith(b".py") for word in process.words[1:])
