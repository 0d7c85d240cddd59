"""A review for a terminal: for each job its summary, then the changes with old and new values and their positions.

Of many jobs: a summary, then each group of equal changes once, with its jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics.quoting import visible
from smspec.diagnostics.wrapping import width
from smspec.review.change import MOST_IN_TEXT, ReportedChange, foremost, has_values, quoted, shown_values, under
from smspec.review.change_groups import ChangeGroup, change_groups
from smspec.review.comparison import Comparison, SharedReason, shared_reasons, variants
from smspec.review.fleet_summary import effect_rows, has_values_in_headline, headline, named, summary_rows
from smspec.review.job_review import JobReview
from smspec.source import dotted
from smspec.source.frozen import replace

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
