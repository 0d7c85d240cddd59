"""Kill one training process of a running job, as the kernel does when memory runs out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from smspec.local.engines.engine import RunningHost
from smspec.local.events import ProcessKilled, Reporter
from smspec.local.machine_processes import MachineProcess

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
