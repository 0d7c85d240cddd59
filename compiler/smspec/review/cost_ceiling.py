"""The cost ceiling of a job: its instances for their maximum runtime."""

from __future__ import annotations

from fractions import Fraction

from smspec.review.prices import Prices
from smspec.service.members import items, member, number, structure
from smspec.service.request import Request
from smspec.source.frozen import dataclass

_MOST = 10**12
"""Seconds or instances; no real job has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """``hours`` of instances, by type.

    ``usd`` None: at least one type has no price. ``counted`` describes what is included.
    """

    hours: dict[str, Fraction]
    usd: Fraction | None
    counted: tuple[str, ...]

    @property
    def total(self) -> Fraction:
        return sum(self.hours.values(), Fraction(0))

    @property
    def words(self) -> str:
        money = "" if self.usd is None else f", ${float(self.usd):,.2f}"
        return f"{amount(self.total)} instance {'hour' if self.total == 1 else 'hours'}{money}"

    @property
    def record(self) -> dict[str, object]:
        """The ceiling as JSON."""
        hours = {kind: float(time) for kind, time in sorted(self.hours.items())}
        return {"instance_hours": float(self.total), "by_instance_type": hours, "usd": _dollars(self.usd)}


def ceiling_of(payload: dict[str, object], prices: Prices) -> Ceiling | None:
    """Return the ceiling of a request; None if it has no instances, or an invalid number."""
    request = Request(payload=payload)
    hosts = _hosts(payload)
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
        counted.append(f"{amount(Fraction(request.keep_alive, 60))} min of keep-alive are in it")
    if retries:
        # API shape StoppingCondition: the limit is for all attempts in total.
        counted.append(f"{retries} {'retry' if retries == 1 else 'retries'} within the same limit")
    hours = {kind: Fraction(hosts_of_kind * seconds, 3600) for kind, hosts_of_kind in hosts.items()}
    known = all(kind in prices for kind in hours)
    usd = sum((time * prices[kind] for kind, time in hours.items()), Fraction(0)) if known else None
    return Ceiling(hours=hours, usd=usd, counted=tuple(counted))


def amount(number: Fraction) -> str:
    """Return a number with at most two decimal places."""
    return f"{float(number):,.2f}".rstrip("0").rstrip(".")


def _hosts(payload: dict[str, object]) -> dict[str, int]:
    """Return the number of instances of each type."""
    config = structure(payload, "ResourceConfig")
    found: dict[str, int] = {}
    for group in items(config, "InstanceGroups") or [config]:
        kind, count = member(group, "InstanceType"), number(group, "InstanceCount")
        if isinstance(kind, str) and count is not None:
            found[kind] = found.get(kind, 0) + count
    return found


def _dollars(usd: Fraction | None) -> float | None:
    return None if usd is None else round(float(usd), 4)
