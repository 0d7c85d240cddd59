"""A host that never comes up: the others know its name, and wait for it."""

from __future__ import annotations

from smspec.local.engines.fault_support import unsupported
from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import duration
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, run_with, time_limit
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.spec.model import Mpi, Torchrun

_ADVICE = (
    "set a timeout for every wait for other hosts, such as `socket.settimeout` or "
    "`init_process_group(timeout=timedelta(minutes=5))`, and let it end the script"
)
_TORCHRUN = "PET_RDZV_CONF"
"""The variable with the default of `torchrun --rdzv-conf`, whose own timeout is 10 minutes."""


def _reason_against(rehearsal: Rehearsal) -> str | None:
    if len(rehearsal.training.hosts(rehearsal.request.hosts)) < 2:
        return "the job has one host"
    if isinstance(rehearsal.job.distribution, Mpi):
        return "with `mpi`, the smspec runtime waits 30 minutes for the hosts, then fails the job"
    return unsupported(SurroundingFaults(variables=_shortened(rehearsal)), rehearsal.engine)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    absent = rehearsal.training.hosts(rehearsal.request.hosts)[-1].name
    shortened = _shortened(rehearsal)
    faults = SurroundingFaults(absent=absent, variables=shortened, limit=time_limit(rehearsal))
    trial = run_with(rehearsal, "absent-host", faults=faults)
    if hangs(trial):
        return hanging(rehearsal, trial, f"{absent} never comes up", _ADVICE)
    if not trial.completed:
        note = " (torchrun's timeout of 10 minutes was shortened)" if shortened else ""
        return kept(f"without {absent}, the job fails after {duration(trial.seconds)}{note}: {failure_of(trial)}")
    if rehearsal.job.distribution is not None:
        return broken(trial, f"completes without {absent}, as if it were not part of the job", advice=_ADVICE)
    return not_rehearsed(f"the fault did not strike: the other hosts do not need {absent}")


def _shortened(rehearsal: Rehearsal) -> dict[str, str]:
    """Return the variable that lets torchrun wait less, unless the job sets it itself."""
    if not isinstance(rehearsal.job.distribution, Torchrun) or _TORCHRUN in rehearsal.training.environment:
        return {}
    return {_TORCHRUN: f"timeout={max(1, int(rehearsal.patience / 2))}"}


PROMISE = Promise(
    name="absent-host",
    statement="a host that never comes up fails the job instead of stopping it forever",
    reason_against=_reason_against,
    rehearse=_rehearse,
)
