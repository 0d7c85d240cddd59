"""An S3 endpoint that refuses every request."""

from __future__ import annotations

from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import duration
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, time_limit
from smspec.rehearsal.endpoint_trial import NO_REQUEST, no_endpoint_reason, run_behind
from smspec.rehearsal.faulty_endpoint import Course, Struck
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial

_ADVICE = "limit how often a request is repeated, as boto3 does, and let the last error end the script"


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    faults = SurroundingFaults(limit=time_limit(rehearsal))

    def run(name: str) -> tuple[Trial, Struck]:
        return run_behind(rehearsal, name, faults, Course(is_down=True))

    trial, struck = run("failing-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 refuses every request ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE)
    if not trial.completed:
        return kept(f"{what}; the job fails after {duration(trial.seconds)}: {failure_of(trial)}")
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    lost = found.differences
    if lost:
        return broken(trial, f"{what}, and the job completes: {lost[0]}", *lost[1:], advice=_ADVICE)
    if struck.writes:
        return not_rehearsed(
            f"{what}, and the job completes with the same model; whether it needs its uploads is unknown"
        )
    if not found.is_whole:
        return not_rehearsed(f"{what}, and the job completes; whether it needs S3 is unknown: {found.doubt}")
    return kept(f"{what}: the job completes with the same model, so it needs nothing from there")


PROMISE = Promise(
    name="failing-s3",
    statement="an S3 endpoint that fails for good fails the job instead of stopping it forever",
    reason_against=no_endpoint_reason,
    rehearse=_rehearse,
)
