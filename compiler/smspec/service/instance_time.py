"""How long a job may use instances: each of them for its maximum runtime."""

from __future__ import annotations

from smspec.service.members import items, member, number, structure
from smspec.service.request import Request
from smspec.source.frozen import dataclass

_MOST = 10**12
"""Seconds or instances; no real job has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTime:
    """``seconds`` of instances, by type. ``counted`` describes what is included besides the runtime."""

    seconds: dict[str, int]
    counted: tuple[str, ...]


def instance_time(payload: dict[str, object]) -> InstanceTime | None:
    """Return the longest time of a request; None if it has no instances, or an invalid number."""
    request = Request(payload=payload)
    hosts = instance_counts(payload)
    seconds = request.max_runtime
    if not hosts or seconds is None:
        return None
    retries = number(payload, "RetryStrategy", "MaximumRetryAttempts")
    numbers = (seconds, request.max_wait, request.keep_alive, retries, *hosts.values())
    if max(abs(known) for known in numbers if known is not None) > _MOST:
        return None
    counted: list[str] = []
    if request.uses_spot and request.max_wait is not None:
        seconds = request.max_wait
        counted.append("with spot: the wait for capacity is in it")
    if request.keep_alive:
        seconds += request.keep_alive
        counted.append(f"{two_decimals(request.keep_alive / 60)} min of keep-alive are in it")
    if retries:
        # API shape StoppingCondition: the limit is for all attempts in total.
        counted.append(f"{retries} {'retry' if retries == 1 else 'retries'} within the same limit")
    return InstanceTime(seconds={kind: count * seconds for kind, count in hosts.items()}, counted=tuple(counted))


def help_to_shorten(request: Request) -> str:
    """Return how to reduce the time, in the words of a spec or of a request."""
    limit = request.word("MaxRuntimeInSeconds", "stopping.max_runtime")
    count = request.word("InstanceCount", "hosts.count")
    return f"reduce `{limit}` or `{count}`, or ask the policy owner"


def two_decimals(number: float) -> str:
    """Return a number with at most two decimal places."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def instance_hours(hours: float) -> str:
    """Return a number of hours with its unit."""
    return f"{two_decimals(hours)} instance {'hour' if hours == 1 else 'hours'}"


def instance_counts(payload: dict[str, object]) -> dict[str, int]:
    """Return the number of instances of each type."""
    config = structure(payload, "ResourceConfig")
    found: dict[str, int] = {}
    for group in items(config, "InstanceGroups") or [config]:
        kind, count = member(group, "InstanceType"), number(group, "InstanceCount")
        if isinstance(kind, str) and count is not None:
            found[kind] = found.get(kind, 0) + count
    return found
