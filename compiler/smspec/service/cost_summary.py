"""What jobs can cost in total, in one line: instance hours, and money as far as there are prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import one_of
from smspec.service.instance_time import instance_hours, instance_time
from smspec.service.prices import PriceBook
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCost:
    """``seconds`` of all instances together. ``amounts``: currency → the cost of the types with a price.

    ``unpriced``: the types without a price, if others have one. ``as_of``: the date of the oldest listed price.
    """

    seconds: int
    amounts: Mapping[str, Fraction] = field(default_factory=dict)
    unpriced: tuple[str, ...] = ()
    as_of: str = ""

    @property
    def usd(self) -> float | None:
        """The cost in US dollars; None if a type has no price, or one in another currency."""
        return float(self.amounts["USD"]) if set(self.amounts) == {"USD"} and not self.unpriced else None


def job_cost(payload: dict[str, object], prices: PriceBook, region: str | None) -> JobCost | None:
    """Return the ceiling of a request; None if it has no instances, or an invalid number."""
    time = instance_time(payload)
    if time is None:
        return None
    seconds = sum(time.seconds.values())
    if prices.is_empty:
        return JobCost(seconds=seconds)
    of_job = prices.of(payload, region)
    amounts: dict[str, Fraction] = {}
    unpriced, dates = [], []
    for kind, used in time.seconds.items():
        known = of_job.price(kind)
        if known is None:
            unpriced.append(kind)
            continue
        amounts[known.currency] = amounts.get(known.currency, 0) + known.amount * used / 3600
        dates += [known.as_of] if known.as_of else []
    return JobCost(seconds=seconds, amounts=amounts, unpriced=tuple(unpriced), as_of=min(dates, default=""))


def highest(costs: Iterable[JobCost | None]) -> JobCost | None:
    """Return the ceiling of jobs of which one is to run; None if none of them has one."""
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    amounts: dict[str, Fraction] = {}
    for cost in known:
        for currency, amount in cost.amounts.items():
            amounts[currency] = max(amount, amounts.get(currency, amount))
    return JobCost(
        seconds=max(cost.seconds for cost in known),
        amounts=amounts,
        unpriced=tuple(dict.fromkeys(kind for cost in known for kind in cost.unpriced)),
        as_of=min((cost.as_of for cost in known if cost.as_of), default=""),
    )


def cost_line(costs: Iterable[JobCost]) -> str:
    """Return the ceiling of some jobs; empty if there are none."""
    known = list(costs)
    if not known:
        return ""
    hours = instance_hours(sum(cost.seconds for cost in known) / 3600)
    currencies = sorted({currency for cost in known for currency in cost.amounts}, reverse=True)
    money = " + ".join(
        _money(currency, float(sum(cost.amounts.get(currency, 0) for cost in known))) for currency in currencies
    )
    unpriced = sorted({kind for cost in known for kind in cost.unpriced})
    without = f" without {one_of(unpriced)}, which has no price" if unpriced else ""
    as_of = min((cost.as_of for cost in known if cost.as_of), default="")
    dated = f" (prices of {as_of})" if as_of else ""
    jobs = "" if len(known) == 1 else f" of {len(known)} jobs"
    return f"cost ceiling{jobs}: {hours}{', ' if money else ''}{money}{without}{dated}"


def _money(currency: str, amount: float) -> str:
    return f"${amount:,.2f}" if currency == "USD" else f"{currency} {amount:,.2f}"
