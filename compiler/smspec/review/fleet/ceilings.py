"""The cost ceilings of many jobs before and after a change, added up."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from smspec.review.change import Change
from smspec.review.job_review import JobReview
from smspec.review.kinds.cost import CEILING, KIND, percent
from smspec.service.cost_ceiling import Ceiling, amount, dollars
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingTotal:
    """Instance hours of ``jobs`` before and after, and US dollars of those among them with prices on both sides.

    ``changed``: how many ceilings differ. ``unpriced``: jobs with an instance type that has no price.
    """

    jobs: int
    changed: int
    unpriced: int
    hours: tuple[Fraction, Fraction]
    usd: tuple[Fraction, Fraction]
    has_same_types: bool

    @property
    def is_priced(self) -> bool:
        return self.unpriced < self.jobs

    @property
    def rise(self) -> str:
        """The rise in percent of the money, else of the hours; empty if unknown, or if one side has no job."""
        old, new = self.usd if self.is_priced else self.hours
        if not old or not new or not (self.is_priced or self.has_same_types):
            return ""
        return percent((new - old) / old * 100).strip()

    @property
    def words(self) -> str:
        """The ceilings without the rise: `24 → 96 instance hours, $4.90 → $19.58`."""
        hours = f"{_change(*map(amount, self.hours))} instance hours{'' if self.changed else ', as before'}"
        if not self.is_priced:
            return hours
        money = _change(*map(dollars, self.usd))
        without = f" without {self.unpriced} of {self.jobs} jobs, which have no price" if self.unpriced else ""
        return f"{hours}, {money}{without}"


def ceiling_total(reviews: Iterable[JobReview]) -> CeilingTotal:
    """Return the ceilings of jobs, each on its own; a job that is new, or removed, has none on one side."""
    pairs = [review.ceilings for review in reviews if review.ceilings != (None, None)]
    priced = [pair for pair in pairs if all(ceiling is None or ceiling.usd is not None for ceiling in pair)]
    return CeilingTotal(
        jobs=len(pairs),
        changed=sum(_differ(*pair) for pair in pairs),
        unpriced=len(pairs) - len(priced),
        hours=(_hours(old for old, _ in pairs), _hours(new for _, new in pairs)),
        usd=(_dollars(old for old, _ in priced), _dollars(new for _, new in priced)),
        has_same_types=all(old is None or new is None or set(old.hours) == set(new.hours) for old, new in pairs),
    )


def is_ceiling(change: Change) -> bool:
    """Return whether a change is that of a cost ceiling."""
    return change.kind == KIND.name and change.brief == CEILING


def _change(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"


def _differ(old: Ceiling | None, new: Ceiling | None) -> bool:
    return old is None or new is None or (old.hours, old.usd) != (new.hours, new.usd)


def _hours(ceilings: Iterable[Ceiling | None]) -> Fraction:
    return sum((ceiling.total for ceiling in ceilings if ceiling is not None), Fraction(0))


def _dollars(ceilings: Iterable[Ceiling | None]) -> Fraction:
    return sum((ceiling.usd for ceiling in ceilings if ceiling is not None and ceiling.usd), Fraction(0))
