"""A review for a terminal: for each job its summary, then the changes with old and new values and their positions.

Of many jobs: a summary, then each group of equal changes once, with its jobs. Markdown is made from the same words: the
summary of all, the headline and the effects of a group, and the names of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.diagnostics.quoting import visible
from smspec.diagnostics.wrapping import width
from smspec.review.change import MOST_IN_TEXT, ReportedChange, foremost, has_values, quoted, shown_values, under
from smspec.review.change_groups import ChangeGroup, ceiling_total, change_groups
from smspec.review.comparison import Comparison, SharedReason, shared_reasons, variants
from smspec.review.job_review import JobReview, Status, verdict
from smspec.review.kinds import KINDS
from smspec.review.kinds.kind import count
from smspec.review.kinds.members import COST
from smspec.review.kinds.same_job import AT_ZERO, JOB, RESTART, RESUME
from smspec.review.kinds.security import SECURITY
from smspec.review.kinds.software import IMAGE, REBUILDS, is_rebuilt
from smspec.source import dotted
from smspec.source.frozen import replace

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


Paint = Callable[[str, str], str]
"""Formats text in a style of the terminal."""

_STYLES = {"restart": "1;31", "security": "1;31", "cost": "1;33", "image": "1;36", "cosmetic": "2", "job": "2"}

MOST_CHANGES = 60
"""How many changes of a job, or of a group of jobs, are shown; JSON contains all."""

MOST_APART = 3
"""Up to this number of jobs, each is shown on its own; more are grouped by their changes."""


def text(comparison: Comparison, *, colour: bool = False) -> str:
    """Return the differences, then what could not be compared, as text, with an empty line between two jobs."""
    paint: Paint = (lambda style, words: f"\x1b[{style}m{words}\x1b[0m") if colour else (lambda _, words: words)
    is_fleet = len(comparison.reviews) > MOST_APART
    jobs = _fleet_parts(comparison, paint) if is_fleet else (_job(review, paint) for review in comparison.reviews)
    settings = (_job(review, paint) for review in comparison.settings)
    parts = [*settings, *jobs, *map(_unknown, shared_reasons(comparison.uncompared))]
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts)


def _unknown(shared: SharedReason) -> Iterator[str]:
    reason = shared.reason
    overlays = "".join(f" with the overlay `{visible(name)}`" for name in variants(reason)[:1])
    several = f" and {len(reason.overlays) - 1} more" if overlays and len(reason.overlays) > 1 else ""
    first = reason.first
    more = f" (and {reason.more} more)" if reason.more else ""
    names = [job.name or job.file for job in shared.jobs]
    yield f"{visible(names[0]) if len(names) == 1 else f'{len(names):,} jobs'}{overlays}{several}: not compared"
    if len(names) > 1:
        yield f"  {named(names)}"
    yield f"  {visible(first.span.file)}:{first.span.line}: {first.code}: {visible(first.message)}{more}"


def _job(review: JobReview, paint: Paint) -> Iterator[str]:
    name = visible(review.name)
    for overlay, words in review.verdicts:
        variant = "" if overlay is None else f" with the overlay `{visible(overlay)}`"
        yield f"{paint('1', name)}{variant}: {words}"
    moved = f" (was {visible(review.old_file)})" if review.old_file != review.file else ""
    yield f"  {paint('2', f'{visible(review.file)}{moved}')}"
    kinds = max(map(len, (reported.change.kind for reported in review.reported)), default=0)
    shown, rest = foremost(review.reported, MOST_CHANGES)
    for reported in shown:
        yield from _change_lines(reported, kinds, review.file, paint)
    if rest:
        yield f"  … and {rest}; --format json has them all"


def _fleet_parts(comparison: Comparison, paint: Paint) -> Iterator[Iterator[str]]:
    """Yield the lines of the summary, then those of each group."""
    yield _fleet_summary(comparison, paint)
    for group in change_groups(comparison.reviews):
        yield _group_lines(group, paint)


def _fleet_summary(comparison: Comparison, paint: Paint) -> Iterator[str]:
    rows = list(summary_rows(comparison))
    margin = max(len(subject) for subject, _ in rows)
    for subject, words in rows:
        yield f"{paint('1', subject)}{' ' * (margin - len(subject))}  {visible(words)}"


def _group_lines(group: ChangeGroup, paint: Paint) -> Iterator[str]:
    names = [review.name for review in group.jobs]
    is_one = len(names) == 1
    who = visible(names[0]) if is_one else f"{len(names):,} jobs"
    yield f"{paint('1', who)}: {headline(group, visible, str)}"
    yield f"  {paint('2', visible(group.jobs[0].file) if is_one else named(names))}"
    effects = list(effect_rows(group))
    kinds = max(map(len, [*(change.kind for change in group.changes), *(kind for kind, _ in effects)]))
    shown, rest = foremost(group.reported, MOST_CHANGES)
    for reported in shown:
        if has_values_in_headline(group):
            reported = replace(reported, change=replace(reported.change, old=None, new=None))
        yield from _change_lines(reported, kinds, group.jobs[0].file if is_one else "", paint)
    if rest:
        yield f"  … and {rest}; --format json has them all"
    for kind, what in effects:
        yield f"  {_painted_kind(kind, kinds, paint)}  {visible(what)}"


def _change_lines(reported: ReportedChange, kinds: int, file: str, paint: Paint) -> Iterator[str]:
    """Yield a change; ``kinds`` is the width of the longest kind, ``file`` the one whose name is known."""
    change = reported.change
    kind = _painted_kind(change.kind, kinds, paint)
    path = visible(dotted(change.path))
    where = f"{visible(change.file)}:{change.line}" if change.file else ""
    where = f"line {change.line}" if change.file == file and change.line else where
    here = " ".join(part for part in (path, where and f"({where})") if part)
    overlays = under(reported, quoted)
    overlays = f" — {overlays}" if overlays else ""
    yield f"  {kind}  {here + ': ' if here else ''}{change.what}{overlays}"
    if has_values(change):
        old, new = shown_values(change, most=MOST_IN_TEXT)
        margin = " " * (kinds + 4)
        together = f"{margin}{paint('31', old)} → {paint('32', new)}"
        if width(old) + width(new) + len(margin) > 110:
            yield f"{margin}{paint('31', old)}"
            yield f"{margin}→ {paint('32', new)}"
        else:
            yield together


def _painted_kind(kind: str, kinds: int, paint: Paint) -> str:
    """Return a kind in its style, as wide as the longest one."""
    return paint(_STYLES.get(kind, "1"), kind) + " " * (kinds - width(kind))
