"""The words for many changed jobs: a summary of all, the headline and the effects of a group, and the names of jobs.

Text and Markdown are made from the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.diagnostics.quoting import visible
from smspec.diagnostics.wrapping import width
from smspec.review.change import has_values, quoted, shown_values
from smspec.review.change_groups import ChangeGroup, ceiling_total
from smspec.review.comparison import Comparison
from smspec.review.job_review import JobReview, Status, verdict
from smspec.review.kinds import KINDS
from smspec.review.kinds.kind import count
from smspec.review.kinds.members import COST
from smspec.review.kinds.same_job import AT_ZERO, JOB, RESTART, RESUME
from smspec.review.kinds.security import SECURITY
from smspec.review.kinds.software import IMAGE, REBUILDS, is_rebuilt
from smspec.source import dotted

_STATUSES: tuple[tuple[Status, str], ...] = (
    ("changed", "changed"),
    ("added", "new"),
    ("removed", "removed"),
    ("moved", "moved"),
)
_MOST_NAMED = 3
_SCRATCH, _ZERO, _KEEPING, _CHANGED, _RESUMED, _SAME = "scratch", "zero", "keeping", "changed", "resumed", "same"
_STARTS = {
    _SCRATCH: "starting from scratch",
    _CHANGED: "resuming old checkpoints with changes",
    _RESUMED: "resuming their checkpoints",
    _KEEPING: "starting at zero and keeping checkpoints now",
    _ZERO: "starting at zero",
}

LONGEST_VALUES = 60
"""Columns of an old and a new value together that a headline has room for."""

FEWEST_NAMED = 3


def summary_rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield (subject, text): the jobs, their cost ceilings, images, training, and access."""
    yield "jobs", _jobs(comparison)
    reviews = comparison.reviews
    ceilings = ceiling_total(reviews)
    if ceilings.jobs:
        rise = f"{ceilings.rise}: " if ceilings.changed and ceilings.rise else ""
        yield "cost ceiling", f"{rise}{ceilings.words}"
    yield "images", _images(reviews)
    training = ", ".join(_training(reviews))
    if training:
        yield "training", training
    access = [review for review in reviews if _has(review, SECURITY.name)]
    if access:
        changes = [change for review in access for change in review.changes if change.kind == SECURITY.name]
        words = KINDS[SECURITY.name].verdict(changes)
        words = words if len(access) == 1 else words.replace("changes ", "change ", 1)
        yield "access", f"{count(len(access), 'job')}: {words}{_names(access)}"


def _jobs(comparison: Comparison) -> str:
    statuses = [review.status for review in comparison.reviews]
    counts = [(statuses.count(status), word) for status, word in _STATUSES]
    counts += [(len(comparison.equal), "equal"), (len(comparison.uncompared), "not compared")]
    return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def _images(reviews: Sequence[JobReview]) -> str:
    changed = [[c for c in review.changes if c.kind == IMAGE.name] for review in reviews]
    rebuilt = [changes for changes in changed if any(map(is_rebuilt, changes))]
    parts = []
    if rebuilt:
        layers = IMAGE.verdict([change for changes in rebuilt for change in changes])
        parts.append(f"{len(rebuilt):,} rebuilt{layers.removeprefix(REBUILDS)}")
    others = sum(bool(changes) for changes in changed) - len(rebuilt)
    parts += [f"{others:,} replaced by a different image"] if others else []
    new = sum(review.status == "added" for review in reviews)
    return ", ".join([*(parts or ["none is rebuilt"]), *([f"{new:,} new"] if new else [])])


def _training(reviews: Sequence[JobReview]) -> Iterator[str]:
    """Yield what becomes of the training of changed jobs, those that lose most first."""
    starts: dict[str, list[JobReview]] = {}
    for review in reviews:
        if review.status in ("changed", "moved"):
            starts.setdefault(_start(review), []).append(review)
    for start, words in _STARTS.items():
        if start in starts:
            yield f"{len(starts[start]):,} {words}{_names(starts[start])}"


def _start(review: JobReview) -> str:
    """Return where the training of a changed job starts."""
    restarts = [change for change in review.changes if change.kind == RESTART.name]
    if restarts:
        return _KEEPING if all(change.old is None for change in restarts) else _SCRATCH
    if _has(review, RESUME.name):
        return _CHANGED
    whats = [change.what for change in review.changes if change.kind == JOB.name and change.old != change.new]
    return _ZERO if AT_ZERO in whats else _RESUMED if whats else _SAME


def _has(review: JobReview, kind: str) -> bool:
    return any(change.kind == kind for change in review.changes)


def _names(reviews: Iterable[JobReview]) -> str:
    """Return the names of a few jobs; of many, what they have in common is more important."""
    names = [review.name for review in reviews]
    return f" ({named(names, show=quoted)})" if len(names) <= _MOST_NAMED else ""


def effect_rows(group: ChangeGroup) -> Iterator[tuple[str, str]]:
    """Yield (kind, effect), the cost ceiling first, and how many of the jobs it concerns."""
    total = len(group.jobs)
    if group.ceiling is not None:
        several = f" in {_of(group.ceiling.changed, total)}" if total > 1 else ""
        yield COST.name, f"cost ceiling: {group.ceiling.words}{several}"
    for effect in group.effects:
        some = f" ({_of(effect.jobs, total)})" if effect.jobs < total else ""
        yield effect.kind, f"{effect.what}{some}"


def _of(number: int, total: int) -> str:
    return f"{total:,} jobs" if number == total else f"{number:,} of {total:,} jobs"


def headline(group: ChangeGroup, code: Callable[[str], str], marked: Callable[[str], str]) -> str:
    """Return what changes: path and values if it is one change of several jobs, else a summary; then the cost ceiling.

    ``code`` formats user text, ``marked`` a message with user text in backticks.
    """
    rise = "" if group.ceiling is None or not group.ceiling.rise else f", {group.ceiling.rise} cost ceiling"
    if has_values_in_headline(group):
        change = group.changes[0]
        old, new = shown_values(change, code)
        return f"{code(dotted(change.path))} {old} → {new}{rise}"
    return f"{marked(verdict(group.changes))}{rise}"


def has_values_in_headline(group: ChangeGroup) -> bool:
    """Return whether the headline has the values of the only change of a group."""
    if len(group.jobs) == 1 or len(group.reported) > 1:
        return False
    change = group.changes[0]
    return bool(change.path) and has_values(change) and sum(map(width, shown_values(change))) <= LONGEST_VALUES


def named(names: Sequence[str], *, columns: int = 76, show: Callable[[str], str] = visible) -> str:
    """Return names separated by commas: as many as fit in some columns, at least three, and how many more there are.

    ``show`` formats the name that a user chose.
    """
    taken = 0
    used = 0
    for name in names:
        used += width(visible(name)) + 2
        if taken >= FEWEST_NAMED and used > columns - len(f"and {len(names):,} more"):
            break
        taken += 1
    more = len(names) - taken
    listed = ", ".join(map(show, names[:taken]))
    return f"{listed}, and {more:,} more" if more else listed
