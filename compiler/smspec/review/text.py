"""A review for a terminal: for each job its summary, then the changes with old and new values and their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics.visible import visible, width
from smspec.review.comparison import Comparison
from smspec.review.job_review import JobReview, ReportedChange
from smspec.review.missing_comparisons import Uncompared, variants
from smspec.review.shown_values import has_values, shown_values, under
from smspec.review.user_text import quoted
from smspec.source import dotted

MOST_CHANGES = 60
"""How many changes of a job are shown; JSON contains all."""

Paint = Callable[[str, str], str]

_STYLES = {"restart": "1;31", "security": "1;31", "cost": "1;33", "image": "1;36", "cosmetic": "2", "job": "2"}


def text(comparison: Comparison, *, colour: bool = False) -> str:
    """Return the differences, then what could not be compared, as text, with an empty line between two jobs."""
    paint: Paint = _coloured if colour else _plain
    parts = [*(_job(review, paint) for review in comparison.reviews), *map(_unknown, comparison.uncompared)]
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts)


def _unknown(job: Uncompared) -> Iterator[str]:
    for reason in job.reasons:
        overlays = "".join(f" with the overlay `{visible(name)}`" for name in variants(reason)[:1])
        several = f" and {len(reason.overlays) - 1} more" if overlays and len(reason.overlays) > 1 else ""
        first = reason.first
        more = f" (and {reason.more} more)" if reason.more else ""
        yield f"{visible(job.name or job.file)}{overlays}{several}: not compared"
        yield f"  {visible(first.span.file)}:{first.span.line}: {first.code}: {visible(first.message)}{more}"


def _job(review: JobReview, paint: Paint) -> Iterator[str]:
    name = visible(review.name)
    for overlay, words in review.verdicts:
        variant = "" if overlay is None else f" with the overlay `{visible(overlay)}`"
        yield f"{paint('1', name)}{variant}: {words}"
    moved = f" (was {visible(review.old_file)})" if review.old_file != review.file else ""
    yield f"  {paint('2', f'{visible(review.file)}{moved}')}"
    kinds = max(map(len, (reported.change.kind for reported in review.reported)), default=0)
    for reported in review.reported[:MOST_CHANGES]:
        yield from _change(reported, kinds, review.file, paint)
    if len(review.reported) > MOST_CHANGES:
        yield f"  … and {len(review.reported) - MOST_CHANGES} more: --format json has them all"


def _change(reported: ReportedChange, kinds: int, file: str, paint: Paint) -> Iterator[str]:
    change = reported.change
    kind = paint(_STYLES.get(change.kind, "1"), change.kind) + " " * (kinds - width(change.kind))
    path = visible(dotted(change.path))
    place = _place(reported)
    where = f"line {change.line}" if change.file == file and change.line else place
    here = " ".join(part for part in (path, where and f"({where})") if part)
    overlays = under(reported, quoted)
    overlays = f" — {overlays}" if overlays else ""
    yield f"  {kind}  {here + ': ' if here else ''}{change.what}{overlays}"
    if has_values(change):
        old, new = shown_values(change)
        margin = " " * (kinds + 4)
        together = f"{margin}{paint('31', old)} → {paint('32', new)}"
        if width(old) + width(new) + len(margin) > 110:
            yield f"{margin}{paint('31', old)}"
            yield f"{margin}→ {paint('32', new)}"
        else:
            yield together


def _place(reported: ReportedChange) -> str:
    change = reported.change
    return f"{visible(change.file)}:{change.line}" if change.file else ""


def _plain(_style: str, words: str) -> str:
    return words


def _coloured(style: str, words: str) -> str:
    return f"\x1b[{style}m{words}\x1b[0m"
