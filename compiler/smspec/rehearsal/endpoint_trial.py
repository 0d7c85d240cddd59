"""A run of the job behind a proxy for its S3 endpoint."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from smspec.local.engines.fault_support import unsupported
from smspec.local.surroundings import SurroundingFaults
from smspec.rehearsal.disturbed_trial import run_with
from smspec.rehearsal.faulty_endpoint import Course, FaultyEndpoint, Struck
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import replace

NO_REQUEST = "the fault did not strike: the job sends no request to the endpoint in its environment"

_NAMES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""The SDKs prefer the first one."""


def no_endpoint_reason(rehearsal: Rehearsal) -> str | None:
    """Return why no fault of S3 can be injected."""
    endpoint = _endpoint(rehearsal)
    if endpoint is None:
        return "AWS_ENDPOINT_URL is not set: set it to the URL of an S3 server for tests, such as moto or MinIO"
    if urlsplit(endpoint[1]).scheme != "http":
        return f"`{endpoint[0]}` is not an http URL: smspec cannot be between a job and a server with TLS"
    if rehearsal.training.payload.get("EnableNetworkIsolation"):
        return "`network.isolation`: the job does not reach S3"
    return unsupported(SurroundingFaults(variables={endpoint[0]: ""}), rehearsal.engine)


def run_behind(rehearsal: Rehearsal, name: str, faults: SurroundingFaults, course: Course) -> tuple[Trial, Struck]:
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
