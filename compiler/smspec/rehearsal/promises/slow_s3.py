"""An S3 endpoint that is slow, refuses some requests, and closes some connections."""

from __future__ import annotations

from smspec.local.surroundings import SurroundingFaults
from smspec.rehearsal.disturbed_trial import broken, failure_of, hanging, hangs, likeness, time_limit
from smspec.rehearsal.endpoint_trial import NO_REQUEST, no_endpoint_reason, run_behind
from smspec.rehearsal.faulty_endpoint import Course, Struck
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial

_ADVICE = (
    "repeat requests that fail with 500, 503, or a closed connection: boto3 and the AWS CLI do (`AWS_MAX_ATTEMPTS`, "
    "`AWS_RETRY_MODE=standard`), `urllib` and `requests` do not"
)
_DELAY_SECONDS = 30.0
"""What the faults of an endpoint, and the attempts after them, may take."""


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    faults = SurroundingFaults(limit=time_limit(rehearsal) + _DELAY_SECONDS)

    def run(name: str) -> tuple[Trial, Struck]:
        return run_behind(rehearsal, name, faults, Course(is_down=False))

    trial, struck = run("slow-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 is slow and fails at times ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE)
    if not trial.completed:
        return broken(trial, f"{what}, and the job fails: {failure_of(trial)}", advice=_ADVICE)
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    changed = found.differences
    if changed:
        return broken(trial, f"{what}, and the job completes differently: {changed[0]}", *changed[1:], advice=_ADVICE)
    if not found.is_known:
        return not_rehearsed(f"{what}: the job completes, but {found.doubt}")
    return kept(f"{what}: the job completes{found.as_undisturbed}")


PROMISE = Promise(
    name="slow-s3",
    statement="an S3 endpoint that is slow and fails at times does not change the model",
    reason_against=no_endpoint_reason,
    rehearse=_rehearse,
)
