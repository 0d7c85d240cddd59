"""A training process that the kernel kills, as it does when memory runs out."""

from __future__ import annotations

from functools import partial

from smspec.local.engines.fault_support import unsupported
from smspec.local.process_killing import RANK, SCRIPT, WORKER
from smspec.local.surroundings import SurroundingFaults
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.spec.model import Mpi, Torchrun

_ADVICE = (
    "check how every process that the script starts has ended (`subprocess.run(check=True)`, `Process.exitcode`, "
    "`concurrent.futures` instead of `multiprocessing.Pool`), and exit with a status other than 0 if one failed"
)
_AGAIN = 2
_NAMES = {RANK: "a process of the launcher", WORKER: "a process that the script started", SCRIPT: "the script"}


def _reason_against(rehearsal: Rehearsal) -> str | None:
    return unsupported(SurroundingFaults(kill_after=0.0), rehearsal.engine)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
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
    what = f"SIGKILL ended {_NAMES[killed.kind]} on {killed.host}"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE)
    if not trial.completed:
        return kept(f"{what}; the job fails: {failure_of(trial)}")
    found = likeness(rehearsal, trial, run)
    if found.differences:
        return broken(
            trial, f"{what}, and the job completes: {found.differences[0]}", *found.differences[1:], advice=_ADVICE
        )
    if not found.is_whole:
        return not_rehearsed(f"{what}, and the job completes; whether its model is whole is unknown: {found.doubt}")
    return kept(f"{what}; the job completes with the same model")


PROMISE = Promise(
    name="killed-process",
    statement="a killed training process fails the job instead of spoiling it",
    reason_against=_reason_against,
    rehearse=_rehearse,
)
