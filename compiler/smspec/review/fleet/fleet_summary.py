"""The summary of many changed jobs: how many there are, what they cost, and what happens to images and training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smspec.review.comparison import Comparison
from smspec.review.fleet.ceilings import ceiling_total
from smspec.review.fleet.named_jobs import named
from smspec.review.job_review import JobReview, Status
from smspec.review.kinds import KINDS, image, job, restart, resume, security
from smspec.review.kinds.kind import count
from smspec.review.user_text import quoted

_STATUSES: tuple[tuple[Status, str], ...] = (
    ("changed", "changed"),
    ("added", "new"),
    ("removed", "removed"),
    ("moved", "moved"),
)
_MOST_NAMED = 3


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
    access = [review for review in reviews if _has(review, security.KIND.name)]
    if access:
        changes = [change for review in access for change in review.changes if change.kind == security.KIND.name]
        words = KINDS[security.KIND.name].verdict(changes)
        words = words if len(access) == 1 else words.replace("changes ", "change ", 1)
        yield "access", f"{count(len(access), 'job')}: {words}{_names(access)}"


def _jobs(comparison: Comparison) -> str:
    statuses = [review.status for review in comparison.reviews]
    counts = [(statuses.count(status), word) for status, word in _STATUSES]
    counts += [(len(comparison.equal), "equal"), (len(comparison.uncompared), "not compared")]
    return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def _images(reviews: Sequence[JobReview]) -> str:
    changed = [[c for c in review.changes if c.kind == image.KIND.name] for review in reviews]
    rebuilt = [changes for changes in changed if any(map(image.is_rebuilt, changes))]
    parts = []
    if rebuilt:
        layers = image.KIND.verdict([change for changes in rebuilt for change in changes])
        parts.append(f"{len(rebuilt):,} rebuilt{layers.removeprefix(image.REBUILDS)}")
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


_SCRATCH, _ZERO, _KEEPING, _CHANGED, _RESUMED, _SAME = "scratch", "zero", "keeping", "changed", "resumed", "same"
_STARTS = {
    _SCRATCH: "starting from scratch",
    _CHANGED: "resuming old checkpoints with changes",
    _RESUMED: "resuming their checkpoints",
    _KEEPING: "starting at zero and keeping checkpoints now",
    _ZERO: "starting at zero",
}


def _start(review: JobReview) -> str:
    """Return where the training of a changed job starts."""
    restarts = [change for change in review.changes if change.kind == restart.KIND.name]
    if restarts:
        return _KEEPING if all(change.old is None for change in restarts) else _SCRATCH
    if _has(review, resume.KIND.name):
        return _CHANGED
    whats = [change.what for change in review.changes if change.kind == job.KIND.name and change.old != change.new]
    return _ZERO if job.AT_ZERO in whats else _RESUMED if whats else _SAME


def _has(review: JobReview, kind: str) -> bool:
    return any(change.kind == kind for change in review.changes)


def _names(reviews: Iterable[JobReview]) -> str:
    """Return the names of a few jobs; of many, what they have in common is more important."""
    names = [review.name for review in reviews]
    return f" ({named(names, show=quoted)})" if len(names) <= _MOST_NAMED else ""
