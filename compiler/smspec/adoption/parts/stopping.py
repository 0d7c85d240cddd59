"""`stopping`, `spot` and `retries`: how long, how cheap, how often."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder
from smspec.diagnostics.durations import duration
from smspec.plan.request_planning import ONE_DAY

_HERE = "StoppingCondition"


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the limits in time, and managed spot training where the request turns it on."""
    if isinstance(rest.members.get(_HERE), dict):
        yield from _stopping(rest)
    elif not rest.has(_HERE):
        rest.refuse(_HERE)
    if rest.members.get("EnableManagedSpotTraining") is True:
        rest.truth("EnableManagedSpotTraining")
        max_wait = rest.duration(_HERE, "MaxWaitTimeInSeconds")
        yield "spot", {} if max_wait is None else {"max_wait": max_wait}
    retries = rest.number("RetryStrategy", "MaximumRetryAttempts")
    if retries is not None:
        yield "retries", retries


def _stopping(rest: Remainder) -> Iterator[tuple[str, object]]:
    if not rest.members[_HERE]:
        del rest.members[_HERE]
    max_runtime = rest.duration(_HERE, "MaxRuntimeInSeconds")
    max_pending = rest.duration(_HERE, "MaxPendingTimeInSeconds")
    if max_runtime == duration(ONE_DAY) and max_pending is None:
        return  # What is sent when nothing is said.
    written = {"max_runtime": max_runtime, "max_pending": max_pending}
    yield "stopping", {key: value for key, value in written.items() if value is not None}
