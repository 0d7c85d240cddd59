"""Group the changes that many jobs share: one edit of a base spec is one group, whichever jobs extend it.

Jobs are not grouped by the set of their changes: one more change in one job would split the group of an edit that a
reviewer reads as one. The cost ceilings of the jobs of a group are added up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from smspec.review.change import Change, ReportedChange, Rise
from smspec.review.job_review import JobReview
from smspec.review.kinds import KINDS
from smspec.review.kinds.members import CEILING, COST, percent
from smspec.review.kinds.same_job import COSMETIC, JOB, RESUME
from smspec.review.kinds.security import SECURITY
from smspec.review.kinds.software import CODE, IMAGE
from smspec.service.cost_ceiling import Ceiling, amount, dollars
from smspec.source import Path
from smspec.source.frozen import dataclass, replace

_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_PLACES_OF_DIGESTS: tuple[Path, ...] = ((), ("source",), ("source", "dir"), ("image", "python_requirements"))
Key = tuple[object, ...]


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
        changed=sum(old is None or new is None or (old.hours, old.usd) != (new.hours, new.usd) for old, new in pairs),
        unpriced=len(pairs) - len(priced),
        hours=(_hours(old for old, _ in pairs), _hours(new for _, new in pairs)),
        usd=(_dollars(old for old, _ in priced), _dollars(new for _, new in priced)),
        has_same_types=all(old is None or new is None or set(old.hours) == set(new.hours) for old, new in pairs),
    )


def is_ceiling(change: Change) -> bool:
    """Return whether a change is that of a cost ceiling."""
    return change.kind == COST.name and change.brief == CEILING


def _change(old: str, new: str) -> str:
    return old if old == new else f"{old} → {new}"


def _hours(ceilings: Iterable[Ceiling | None]) -> Fraction:
    return sum((ceiling.total for ceiling in ceilings if ceiling is not None), Fraction(0))


def _dollars(ceilings: Iterable[Ceiling | None]) -> Fraction:
    return sum((ceiling.usd for ceiling in ceilings if ceiling is not None and ceiling.usd), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What follows from other changes: a new job, a different ceiling; ``jobs`` of the group have it."""

    kind: str
    what: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup:
    """The changes that exactly these jobs have in common.

    ``effects``: of all changes of these jobs together. A job has them in its largest group, so that they add up.
    ``ceiling``: that of the jobs that have it here; None if it stays.
    """

    jobs: tuple[JobReview, ...]
    reported: tuple[ReportedChange, ...]
    effects: tuple[Effect, ...] = ()
    ceiling: CeilingTotal | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(reported.change for reported in self.reported)


def change_groups(reviews: Sequence[JobReview]) -> tuple[ChangeGroup, ...]:
    """Return the groups of changes: new jobs last, access first, then those of most jobs, in the order of the jobs.

    Who adds a hundred jobs does not move a change of an existing one out of sight.
    Every change of every job is in exactly one group, or is one of its effects.
    """
    shared: dict[Key, list[tuple[int, ReportedChange]]] = {}
    for number, review in enumerate(reviews):
        for reported in _causes(review):
            shared.setdefault(change_key(reported), []).append((number, reported))
    blocks: dict[tuple[int, ...], list[ReportedChange]] = {}
    for among in shared.values():
        numbers = tuple(dict.fromkeys(number for number, _ in among))
        blocks.setdefault(numbers, []).append(_common([reported for _, reported in among]))
    ordered = sorted(blocks, key=lambda numbers: (-len(numbers), numbers))
    owned: dict[tuple[int, ...], list[JobReview]] = {numbers: [] for numbers in ordered}
    settled: set[int] = set()
    for numbers in ordered:
        owned[numbers] = [reviews[number] for number in numbers if number not in settled]
        settled.update(numbers)
    groups = [_group([reviews[n] for n in numbers], blocks[numbers], owned[numbers]) for numbers in ordered]
    return tuple(sorted(groups, key=_rank))


def _rank(group: ChangeGroup) -> tuple[bool, bool]:
    is_access = any(change.kind == SECURITY.name for change in group.changes)
    return all(review.status == "added" for review in group.jobs), not is_access


def _group(jobs: Sequence[JobReview], reported: Sequence[ReportedChange], owned: Sequence[JobReview]) -> ChangeGroup:
    order = list(KINDS)
    total = ceiling_total(owned)
    return ChangeGroup(
        jobs=tuple(jobs),
        reported=tuple(sorted(reported, key=lambda each: order.index(each.change.kind))),
        effects=tuple(_effects(owned)),
        ceiling=total if total.changed else None,
    )


def _effects(jobs: Iterable[JobReview]) -> Iterator[Effect]:
    counts: dict[tuple[str, str], int] = {}
    rises: list[list[Rise]] = []
    for review in jobs:
        causes = _causes(review)
        effects = [each for each in review.reported if each not in causes]
        others = [each.change for each in effects if not is_ceiling(each.change)]
        for key in dict.fromkeys((change.kind, change.what) for change in others):
            counts[key] = counts.get(key, 0) + 1
        # The ceiling of the spec on its own is in the total.
        of_overlays = [each for each in effects if is_ceiling(each.change) and not (each.as_is or each.is_everywhere)]
        rises += [[each.change.rise for each in of_overlays]] if of_overlays else []
    if rises:
        known = [rise for of_job in rises for rise in of_job if rise is not None]
        most = f"up to {percent(max(known))}" if known else "another "
        yield Effect(kind=COST.name, what=f"{most}cost ceiling with overlays", jobs=len(rises))
    for (kind, what), number in counts.items():
        yield Effect(kind=kind, what=what, jobs=number)


def _causes(review: JobReview) -> list[ReportedChange]:
    """Return the changes that do not follow from others; all of them if there are no such."""
    return [each for each in review.reported if not _is_effect(each.change)] or list(review.reported)


def _is_effect(change: Change) -> bool:
    is_new_name = change.kind == JOB.name and None not in (change.old, change.new)
    return is_new_name or change.kind == RESUME.name or is_ceiling(change)


def shared_changes(reviews: Sequence[JobReview]) -> dict[Key, int]:
    """Return a number for each change that several jobs have, from 1 in their order."""
    jobs: dict[Key, int] = {}
    for review in reviews:
        for key in {change_key(reported): None for reported in review.reported}:
            jobs[key] = jobs.get(key, 0) + 1
    return {key: number for number, key in enumerate((key for key in jobs if jobs[key] > 1), 1)}


def change_key(reported: ReportedChange) -> Key:
    """Return what is equal for equal changes of different jobs: not the line, and not what is each job's own."""
    change = reported.change
    values = None if _is_own(change) else json.dumps([change.old, change.new], sort_keys=True)
    overlays = () if reported.is_everywhere else (reported.as_is, *reported.overlays)
    return change.kind, change.path, change.what, values, overlays


def _is_own(change: Change) -> bool:
    """Return whether values always differ between jobs, so that nobody compares them: names, places, and digests."""
    values = [value for value in (change.old, change.new) if value is not None]
    is_place = change.kind == COSMETIC.name and not change.path
    # Digests of files; a number of an account, or a commit, is a value that a spec has.
    is_of_files = change.kind in (CODE.name, IMAGE.name) and change.path[:2] in _PLACES_OF_DIGESTS
    has_digests = (
        is_of_files and bool(values) and all(isinstance(value, str) and _DIGEST.fullmatch(value) for value in values)
    )
    return change.kind == JOB.name or _is_effect(change) or is_place or has_digests


def _common(among: Sequence[ReportedChange]) -> ReportedChange:
    """Return what equal changes have in common: values and a place only if all have the same."""
    first = among[0]
    if len(among) == 1:
        return first
    change = first.change
    others = [each.change for each in among]
    if any((other.old, other.new) != (change.old, change.new) for other in others):
        change = replace(change, old=None, new=None)
    if any((other.file, other.line) != (change.file, change.line) for other in others):
        change = replace(change, file=None, line=None)
    return replace(first, change=change)
