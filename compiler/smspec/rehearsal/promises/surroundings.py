"""Promises about what fails around a job: a process, a host, the volume, and the directory of the model.

The files that a run has written determine the necessary room on the volume, and what was lost.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial

from smspec.local.engines.choice import unsupported_faults
from smspec.local.record.units import duration, size
from smspec.local.running.request import SurroundingFaults
from smspec.local.watch.memory_watch import RANK, SCRIPT, WORKER
from smspec.rehearsal.disturbances import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import dataclass
from smspec.source.real_file import files_below
from smspec.spec.model import Mpi, Torchrun

_ADVICE_KILLED_PROCESS = (
    "check how every process that the script starts has ended (`subprocess.run(check=True)`, `Process.exitcode`, "
    "`concurrent.futures` instead of `multiprocessing.Pool`), and exit with a status other than 0 if one failed"
)
_AGAIN = 2
_KILLED = {RANK: "a process of the launcher", WORKER: "a process that the script started", SCRIPT: "the script"}

_ADVICE_ABSENT_HOST = (
    "set a timeout for every wait for other hosts, such as `socket.settimeout` or "
    "`init_process_group(timeout=timedelta(minutes=5))`, and let it end the script"
)
_TORCHRUN = "PET_RDZV_CONF"
"""The variable with the default of `torchrun --rdzv-conf`, whose own timeout is 10 minutes."""

_ADVICE_FULL_VOLUME = (
    "let errors of saving end the script: no `except OSError: pass` around it, and close files, or use `with`, because "
    "an error at the end of the script has no effect"
)
_MOST_ROOM = 256 << 20
"""The volume is in memory."""

_COMMON_PAGE = 4096

_ADVICE_READ_ONLY_MODEL = (
    "let errors of saving end the script: no `except OSError: pass` around it, and check the result of functions that "
    "report errors otherwise"
)
_READ_ONLY = "the model directory is read-only"

_NUMBER = re.compile(r"\d+")
_OUTPUT = ("opt", "ml", "output", "data")


def unless_supported(faults: SurroundingFaults) -> Callable[[Rehearsal], str | None]:
    """Return the reason against a promise: whether the engine of a rehearsal cannot inject its faults."""
    return lambda rehearsal: unsupported_faults(faults, rehearsal.engine)


def rehearse_killed_process(rehearsal: Rehearsal) -> PromiseOutcome:
    """A training process that the kernel kills, as it does when memory runs out."""
    rehearsal.undisturbed()
    # The first run may be slower than later ones, because nothing is in the cache of the disk.
    moment = min(trial.seconds for trial in rehearsal.references) / 3
    name = "killed-process"
    for again in range(1 + _AGAIN):
        faults = SurroundingFaults(
            kill_after=moment,
            kills_rank=isinstance(rehearsal.job.distribution, Torchrun | Mpi),
            limit=time_limit(rehearsal),
        )
        run = partial(run_with, rehearsal, faults=faults)
        trial = run(f"{name}-again-{again}" if again else name)
        if trial.timeline.killed or trial.seconds > moment * 2:
            break
        # The other runs were slower, as on a machine that other work loaded.
        moment = min(moment, trial.seconds) / 3
    if not trial.timeline.killed:
        return not_rehearsed(
            "the fault did not strike: the job ended before, or its processes belong to a different user"
        )
    killed = trial.timeline.killed[0]
    what = f"SIGKILL ended {_KILLED[killed.kind]} on {killed.host}"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE_KILLED_PROCESS)
    if not trial.completed:
        return kept(f"{what}; the job fails: {failure_of(trial)}")
    found = likeness(rehearsal, trial, run)
    if found.differences:
        return broken(
            trial,
            f"{what}, and the job completes: {found.differences[0]}",
            *found.differences[1:],
            advice=_ADVICE_KILLED_PROCESS,
        )
    if not found.is_whole:
        return not_rehearsed(f"{what}, and the job completes; whether its model is whole is unknown: {found.doubt}")
    return kept(f"{what}; the job completes with the same model")


def no_absent_host_reason(rehearsal: Rehearsal) -> str | None:
    """Return why no host can be absent."""
    if len(rehearsal.training.hosts(rehearsal.request.hosts)) < 2:
        return "the job has one host"
    if isinstance(rehearsal.job.distribution, Mpi):
        return "with `mpi`, the smspec runtime waits 30 minutes for the hosts, then fails the job"
    return unsupported_faults(SurroundingFaults(variables=_shortened(rehearsal)), rehearsal.engine)


def rehearse_absent_host(rehearsal: Rehearsal) -> PromiseOutcome:
    """A host that never comes up: the others know its name, and wait for it."""
    absent = rehearsal.training.hosts(rehearsal.request.hosts)[-1].name
    shortened = _shortened(rehearsal)
    faults = SurroundingFaults(absent=absent, variables=shortened, limit=time_limit(rehearsal))
    trial = run_with(rehearsal, "absent-host", faults=faults)
    if hangs(trial):
        return hanging(rehearsal, trial, f"{absent} never comes up", _ADVICE_ABSENT_HOST)
    if not trial.completed:
        note = " (torchrun's timeout of 10 minutes was shortened)" if shortened else ""
        return kept(f"without {absent}, the job fails after {duration(trial.seconds)}{note}: {failure_of(trial)}")
    if rehearsal.job.distribution is not None:
        return broken(
            trial, f"completes without {absent}, as if it were not part of the job", advice=_ADVICE_ABSENT_HOST
        )
    return not_rehearsed(f"the fault did not strike: the other hosts do not need {absent}")


def _shortened(rehearsal: Rehearsal) -> dict[str, str]:
    """Return the variable that lets torchrun wait less, unless the job sets it itself."""
    if not isinstance(rehearsal.job.distribution, Torchrun) or _TORCHRUN in rehearsal.training.environment:
        return {}
    return {_TORCHRUN: f"timeout={max(1, int(rehearsal.patience / 2))}"}


def rehearse_full_volume(rehearsal: Rehearsal) -> PromiseOutcome:
    """A volume that fills up while the job writes its checkpoints and its model."""
    undisturbed = rehearsal.undisturbed()[0]
    page = _page_size()
    pages = max(written_by(undisturbed, host).pages(page) for host in undisturbed.hosts)
    if not pages:
        return not_rehearsed("the job writes neither a model nor checkpoints")
    room = min(pages // 2 * page, _MOST_ROOM)
    run = partial(run_with, rehearsal, faults=SurroundingFaults(room=room, limit=time_limit(rehearsal)))
    trial = run("full-volume")
    where = f"the disk is full after {size(room)}"
    if hangs(trial):
        return hanging(rehearsal, trial, where, _ADVICE_FULL_VOLUME)
    if not trial.completed:
        return kept(f"the job fails when {where}: {failure_of(trial)}")
    lost = _cut_files(undisturbed, trial, page) or likeness(rehearsal, trial, run).differences
    if lost:
        return broken(
            trial,
            f"completes although {where}, without its whole model: {lost[0]}",
            *lost[1:],
            advice=_ADVICE_FULL_VOLUME,
        )
    return kept(f"completes with its model although {where}")


def _page_size() -> int:
    """Return the size of the pages of a volume: elsewhere than on Linux, a virtual machine with Linux has it."""
    return os.sysconf("SC_PAGE_SIZE") if sys.platform.startswith("linux") else _COMMON_PAGE


def _cut_files(undisturbed: Trial, trial: Trial, page: int) -> tuple[str, ...]:
    """Return the files of the model that end where the disk was full; their names may contain a time."""
    found = []
    for host in trial.hosts:
        whole, left = (written_model(one, host) for one in (undisturbed, trial))
        if whole.sizes and not left.sizes:
            found.append(f"the model directory of {host} is empty")
        for name, wanted in whole.sizes.items():
            other = left.counterpart(name)
            if other is not None and left.sizes[other] < wanted and left.sizes[other] % page == 0:
                found.append(f"`{other}` has {left.sizes[other]:,} of {wanted:,} bytes")
    return tuple(found)


def rehearse_read_only_model(rehearsal: Rehearsal) -> PromiseOutcome:
    """A model directory in which the job cannot write."""
    undisturbed = rehearsal.undisturbed()[0]
    if not any(written_model(undisturbed, host).sizes for host in undisturbed.hosts):
        return not_rehearsed("the job writes no model")
    faults = SurroundingFaults(protects_model=True, limit=time_limit(rehearsal))
    run = partial(run_with, rehearsal, faults=faults)
    trial = run("read-only-model")
    if hangs(trial):
        return hanging(rehearsal, trial, _READ_ONLY, _ADVICE_READ_ONLY_MODEL)
    if not trial.completed:
        return kept(f"the job fails when {_READ_ONLY}: {failure_of(trial)}")
    lost = likeness(rehearsal, trial, run).differences
    if lost:
        return broken(
            trial,
            f"completes without its model although {_READ_ONLY}: {lost[0]}",
            *lost[1:],
            advice=_ADVICE_READ_ONLY_MODEL,
        )
    return not_rehearsed("the fault did not strike: the job made its model directory writable")


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """``sizes``: name → bytes."""

    sizes: Mapping[str, int]

    @classmethod
    def of(cls, directory: str) -> WrittenFiles:
        """Return the files below a directory, links excluded."""
        return cls(
            {name: os.path.getsize(path) for name, path in files_below(directory).items() if not os.path.islink(path)}
        )

    def counterpart(self, name: str) -> str | None:
        """Return the file with this name, or the only one whose name differs in its numbers alone, such as a time."""
        if name in self.sizes:
            return name
        kind = _NUMBER.sub("#", name)
        similar = [other for other in self.sizes if _NUMBER.sub("#", other) == kind]
        return similar[0] if len(similar) == 1 else None

    def pages(self, page: int) -> int:
        """Return the room that they need in pages of memory."""
        return sum(-(-size // page) for size in self.sizes.values())


def written_by(trial: Trial, host: str) -> WrittenFiles:
    """Return the model, the output data, and the checkpoints of a host."""
    directories = [
        trial.model_directory(host),
        os.path.join(trial.root(host), *_OUTPUT),
        trial.checkpoint_directory(host),
    ]
    sizes: dict[str, int] = {}
    for directory in directories:
        if directory is not None and trial.is_real(directory):
            found = WrittenFiles.of(directory).sizes
            sizes |= {os.path.join(directory, name): size for name, size in found.items()}
    return WrittenFiles(sizes)


def written_model(trial: Trial, host: str) -> WrittenFiles:
    """Return the model of a host."""
    directory = trial.model_directory(host)
    return WrittenFiles.of(directory) if trial.is_real(directory) else WrittenFiles({})
