"""An S3 endpoint that refuses every request."""

from __future__ import annotations

from smspec.local.surroundings import SurroundingFaults
from smspec.local.units import duration
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, time_limit
from smspec.rehearsal.endpoint_trial import NO_REQUEST, no_endpoint_reason, run_behind
from smspec.rehearsal.faulty_endpoint import Course
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal

_ADVICE = "limit how often a request is repeated, as boto3 does, and let the last error end the script"


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    faults = SurroundingFaults(limit=time_limit(rehearsal))
    trial, struck = run_behind(rehearsal, "failing-s3", faults, Course(is_down=True))
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 refuses every request ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE)
    if not trial.completed:
        return kept(f"{what}; the job fails after {duration(trial.seconds)}: {failure_of(trial)}")
    found = likeness(rehearsal, trial).differences
    if found:
        return broken(trial, f"{what}, and the job completes: {found[0]}", *found[1:], advice=_ADVICE)
    return kept(f"{what}: the job completes with the same model")


PROMISE = Promise(
    name="failing-s3",
    statement="an S3 endpoint that fails for good fails the job instead of stopping it forever",
    reason_against=no_endpoint_reason,
    rehearse=_rehearse,
)
