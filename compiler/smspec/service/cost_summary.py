"""What jobs can cost in total, in one line: instance hours, and dollars as far as there are prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import one_of
from smspec.service.instance_time import instance_hours, instance_time
from smspec.service.prices import Prices
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCost:
    """``seconds`` of all instances together. ``usd``: of the types with a price, None if there are no prices at all.

    ``unpriced``: the types without a price, if others have one.
    """

    seconds: int
    usd: Fraction | None
    unpriced: tuple[str, ...]


def job_cost(payload: dict[str, object], prices: Prices) -> JobCost | None:
    """Return the ceiling of a request; None if it has no instances, or an invalid number."""
    time = instance_time(payload)
    if time is None:
        return None
    seconds = sum(time.seconds.values())
    if not prices:
        return JobCost(seconds=seconds, usd=None, unpriced=())
    from fractions import Fraction  # imported late: it takes as long as many checks, and few repositories have prices

    usd = sum(
        (prices[kind] * Fraction(used, 3600) for kind, used in time.seconds.items() if kind in prices), Fraction(0)
    )
    return JobCost(seconds=seconds, usd=usd, unpriced=tuple(kind for kind in time.seconds if kind not in prices))


def cost_line(costs: Iterable[JobCost]) -> str:
    """Return the ceiling of some jobs; empty if there are none."""
    known = list(costs)
    if not known:
        return ""
    hours = instance_hours(sum(cost.seconds for cost in known) / 3600)
    priced = [cost.usd for cost in known if cost.usd is not None]
    money = f", ${float(sum(priced)):,.2f}" if priced else ""
    unpriced = sorted({kind for cost in known for kind in cost.unpriced})
    without = f" without {one_of(unpriced)}, which has no price" if unpriced else ""
    jobs = "" if len(known) == 1 else f" of {len(known)} jobs"
    return f"cost ceiling{jobs}: {hours}{money}{without}"
