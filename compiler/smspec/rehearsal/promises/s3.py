"""Promises about the S3 endpoint of a job, which runs behind a proxy that is slow, refuses requests, or fails."""

from __future__ import annotations

import os
from functools import partial
from urllib.parse import urlsplit

from smspec.local.engines import unsupported_faults
from smspec.local.record.units import duration
from smspec.local.running.request import SurroundingFaults
from smspec.rehearsal.disturbances import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.faulty_endpoint import FaultCourse, FaultyEndpoint, Struck
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import replace

_ADVICE_SLOW_S3 = (
    "repeat requests that fail with 500, 503, or a closed connection: boto3 and the AWS CLI do (`AWS_MAX_ATTEMPTS`, "
    "`AWS_RETRY_MODE=standard`), `urllib` and `requests` do not"
)
_DELAY_SECONDS = 30.0
"""What the faults of an endpoint, and the attempts after them, may take."""

_ADVICE_FAILING_S3 = "limit how often a request is repeated, as boto3 does, and let the last error end the script"

NO_REQUEST = "the fault did not strike: the job sends no request to the endpoint in its environment"

_NAMES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""The SDKs prefer the first one."""


def rehearse_slow_s3(rehearsal: Rehearsal) -> PromiseOutcome:
    """An S3 endpoint that is slow, refuses some requests, and closes some connections."""
    faults = SurroundingFaults(limit=time_limit(rehearsal) + _DELAY_SECONDS)
    run = partial(run_behind, rehearsal, faults=faults, course=FaultCourse(is_down=False))
    trial, struck = run("slow-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 is slow and fails at times ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE_SLOW_S3)
    if not trial.completed:
        return broken(trial, f"{what}, and the job fails: {failure_of(trial)}", advice=_ADVICE_SLOW_S3)
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    changed = found.differences
    if changed:
        return broken(
            trial, f"{what}, and the job completes differently: {changed[0]}", *changed[1:], advice=_ADVICE_SLOW_S3
        )
    if not found.is_known:
        return not_rehearsed(f"{what}: the job completes, but {found.doubt}")
    return kept(f"{what}: the job completes{found.as_undisturbed}")


def rehearse_failing_s3(rehearsal: Rehearsal) -> PromiseOutcome:
    """An S3 endpoint that refuses every request."""
    faults = SurroundingFaults(limit=time_limit(rehearsal))
    run = partial(run_behind, rehearsal, faults=faults, course=FaultCourse(is_down=True))
    trial, struck = run("failing-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 refuses every request ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE_FAILING_S3)
    if not trial.completed:
        return kept(f"{what}; the job fails after {duration(trial.seconds)}: {failure_of(trial)}")
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    lost = found.differences
    if lost:
        return broken(trial, f"{what}, and the job completes: {lost[0]}", *lost[1:], advice=_ADVICE_FAILING_S3)
    if struck.writes:
        return not_rehearsed(
            f"{what}, and the job completes with the same model; whether it needs its uploads is unknown"
        )
    if not found.is_whole:
        return not_rehearsed(f"{what}, and the job completes; whether it needs S3 is unknown: {found.doubt}")
    return kept(f"{what}: the job completes with the same model, so it needs nothing from there")


def no_endpoint_reason(rehearsal: Rehearsal) -> str | None:
    """Return why no fault of S3 can be injected."""
    endpoint = _endpoint(rehearsal)
    if endpoint is None:
        return "AWS_ENDPOINT_URL is not set: set it to the URL of an S3 server for tests, such as moto or MinIO"
    if urlsplit(endpoint[1]).scheme != "http":
        return f"`{endpoint[0]}` is not an http URL: smspec cannot be between a job and a server with TLS"
    if rehearsal.training.payload.get("EnableNetworkIsolation"):
        return "`network.isolation`: the job does not reach S3"
    return unsupported_faults(SurroundingFaults(variables={endpoint[0]: ""}), rehearsal.engine)


def run_behind(
    rehearsal: Rehearsal, name: str, *, faults: SurroundingFaults, course: FaultCourse
) -> tuple[Trial, Struck]:
    """Run the job with an endpoint that behaves like ``course``; return what its requests met."""
    endpoint = _endpoint(rehearsal)
    assert endpoint is not None
    proxy = FaultyEndpoint(endpoint[1], course)
    try:
        behind = replace(faults, variables={endpoint[0]: proxy.url})
        return run_with(rehearsal, name, faults=behind, reaches_loopback=True), proxy.struck
    finally:
        proxy.close()


def _endpoint(rehearsal: Rehearsal) -> tuple[str, str] | None:
    """Return the variable with the endpoint, and its value; the spec's `environment` comes first."""
    variables = {**os.environ, **rehearsal.training.environment}
    return next(((name, variables[name]) for name in _NAMES if variables.get(name)), None)
