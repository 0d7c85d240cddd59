"""A model directory in which the job cannot write."""

from __future__ import annotations

from functools import partial

from smspec.local.engines.fault_support import unsupported
from smspec.local.surroundings import SurroundingFaults
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.written_files import written_model

_ADVICE = (
    "let errors of saving end the script: no `except OSError: pass` around it, and check the result of functions that "
    "report errors otherwise"
)
_WHAT = "the model directory is read-only"


def _reason_against(rehearsal: Rehearsal) -> str | None:
    return unsupported(SurroundingFaults(protects_model=True), rehearsal.engine)


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    undisturbed = rehearsal.undisturbed()[0]
    if not any(written_model(undisturbed, host).sizes for host in undisturbed.hosts):
        return not_rehearsed("the job writes no model")
    faults = SurroundingFaults(protects_model=True, limit=time_limit(rehearsal))
    run = partial(run_with, rehearsal, faults=faults)
    trial = run("read-only-model")
    if hangs(trial):
        return hanging(rehearsal, trial, _WHAT, _ADVICE)
    if not trial.completed:
        return kept(f"the job fails when {_WHAT}: {failure_of(trial)}")
    lost = likeness(rehearsal, trial, run).differences
    if lost:
        return broken(trial, f"completes without its model although {_WHAT}: {lost[0]}", *lost[1:], advice=_ADVICE)
    return not_rehearsed("the fault did not strike: the job made its model directory writable")


PROMISE = Promise(
    name="read-only-model",
    statement="a model directory that cannot be written fails the job",
    reason_against=_reason_against,
    rehearse=_rehearse,
)
