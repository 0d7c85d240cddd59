"""The cost ceiling of the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from smspec.review.alternatives import of_alternatives
from smspec.review.change import Change, Rise
from smspec.review.change_descriptions import by_member
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair
from smspec.service.cost_ceiling import Ceiling, amount, highest_ceiling

CEILING = "ceiling"


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes of limits, then of the resulting cost ceiling."""
    yield from by_member(pair, KIND.name)
    yield from of_alternatives(pair, KIND.name)
    old, new = (highest_ceiling(version.payloads, pair.prices, version.region) for version in (pair.old, pair.new))
    if new is None or (old is not None and (old.hours, old.usd) == (new.hours, new.usd)):
        return
    if old is not None:
        yield ceiling_change(pair, old, new)


def ceiling_change(pair: Pair, old: Ceiling | None, new: Ceiling) -> Change:
    """Return the change from one ceiling to the next; from none for a new job."""
    rise = risen(old, new)
    before = "" if old is None else f"{_hours(old)} → "
    types = "" if old is None or set(old.hours) == set(new.hours) else ", on other instance types"
    counted = f"; {', '.join(new.counted)}" if new.counted else ""
    return pair.change(
        KIND.name,
        ("hosts",) if pair.new.request is not None else ("ResourceConfig",),
        f"{percent(rise)}cost ceiling ({before}{_hours(new)} instance hours{_money(old, new)}{types}){counted}",
        old=None if old is None else old.record,
        new=new.record,
        brief=CEILING,
        rise=rise,
    )


def risen(old: Ceiling | None, new: Ceiling) -> Rise:
    """Return the rise in percent: of the price, else of hours on the same types; None if neither can be compared."""
    if old is None:
        return None
    if old.usd and new.usd is not None:
        return (new.usd - old.usd) / old.usd * 100
    if set(old.hours) != set(new.hours) or not old.total or (len(old.hours) > 1 and not _in_proportion(old, new)):
        return None
    return (new.total - old.total) / old.total * 100


def _in_proportion(old: Ceiling, new: Ceiling) -> bool:
    """Return whether the hours of all types grew by the same factor, so that prices do not matter."""
    return len({new.hours[kind] / hours for kind, hours in old.hours.items() if hours}) == 1


def percent(rise: Rise) -> str:
    """Return a rise in the form for a message."""
    if rise is None:
        return ""
    sign = "−" if rise < 0 else "+"
    return f"{sign}{amount(abs(Fraction(round(rise * 10), 10)))} % "


def _hours(ceiling: Ceiling) -> str:
    return amount(ceiling.total)


def _money(old: Ceiling | None, new: Ceiling) -> str:
    parts = ["no price" if c.usd is None else f"${float(c.usd):,.2f}" for c in (old, new) if c is not None]
    return f", {' → '.join(parts)}" if set(parts) != {"no price"} else ""


def verdict(changes: Sequence[Change]) -> str:
    for change in changes:
        if change.brief == CEILING:
            return change.what.partition(";")[0]
    return f"changes limits{subjects(changes)}"


KIND = Kind(
    name="cost",
    meaning="the cost ceiling in instance hours (instances × maximum runtime, with spot maximum wait time, keep-"
    "alive included), and in dollars where prices are known; limits, spot, and retries",
    changes=changes,
    verdict=verdict,
)
