"""The cost ceiling of a job: its instances for their maximum runtime.

Retries do not multiply it: the limits of the API apply to all of them in total; the attempts of a queue do. Of a spot
job it is the maximum wait time, because the share without instances is unknown in advance.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from smspec.service.job_costs import PriceBook, choices, instance_counts, instance_hours, instance_time, two_decimals
from smspec.source.frozen import dataclass


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
        money = "" if self.usd is None else f", {dollars(self.usd)}"
        return f"{instance_hours(float(self.total))}{money}"

    @property
    def record(self) -> dict[str, object]:
        """The ceiling as JSON."""
        hours = {kind: float(time) for kind, time in sorted(self.hours.items())}
        usd = None if self.usd is None else round(float(self.usd), 4)
        return {"instance_hours": float(self.total), "by_instance_type": hours, "usd": usd}


def ceiling_of(
    payload: dict[str, object], prices: PriceBook, region: str | None, attempts: int | None = None
) -> Ceiling | None:
    """Return the ceiling of a request; None if it has no instances, or an invalid number."""
    return highest_ceiling([payload], prices, region, attempts)


def _ceiling(payload: dict[str, object], prices: PriceBook, region: str | None, attempts: int | None) -> Ceiling | None:
    time = instance_time(payload, attempts)
    if time is None:
        return None
    hours = {kind: Fraction(seconds, 3600) for kind, seconds in time.seconds.items()}
    of_job = prices.of(payload, region)
    costs = [None if (usd := of_job.dollars(kind)) is None else hour * usd for kind, hour in hours.items()]
    known = [cost for cost in costs if cost is not None]
    usd = sum(known, Fraction(0)) if len(known) == len(costs) else None
    return Ceiling(hours=hours, usd=usd, counted=time.counted)


def highest_ceiling(
    payloads: Iterable[dict[str, object]], prices: PriceBook, region: str | None, attempts: int | None = None
) -> Ceiling | None:
    """Return the ceiling of requests of which one is to run: the highest amount, or without all prices most hours."""
    requests = (each for payload in payloads for each in choices(payload))
    found = [ceiling for each in requests if (ceiling := _ceiling(each, prices, region, attempts)) is not None]
    if any(ceiling.usd is None for ceiling in found):
        return max(found, key=lambda ceiling: ceiling.total)
    return max(found, key=lambda ceiling: (ceiling.usd or Fraction(0), ceiling.total), default=None)


def cost_of(payload: dict[str, object], seconds: float, prices: PriceBook, region: str | None) -> Fraction | None:
    """Return what the instances of a request cost on demand for some seconds, in dollars; None without all prices."""
    of_job = prices.of(payload, region)
    counts = instance_counts(payload)
    costs = [None if (usd := of_job.dollars(kind)) is None else count * usd for kind, count in counts.items()]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Fraction(0)) * Fraction(seconds) / 3600 if known and len(known) == len(costs) else None


def amount(number: Fraction) -> str:
    """Return a number with at most two decimal places."""
    return two_decimals(float(number))


def dollars(usd: Fraction) -> str:
    return f"${float(usd):,.2f}"
