"""A review for a terminal: for each job its summary, then the changes with old and new values and their positions."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics.visible import visible
from smspec.review.change_lines import Paint, change_lines, coloured, plain
from smspec.review.comparison import Comparison
from smspec.review.fleet.fleet_text import fleet_parts
from smspec.review.fleet.named_jobs import named
from smspec.review.job_review import JobReview
from smspec.review.missing_comparisons import SharedReason, shared_reasons, variants

MOST_CHANGES = 60
"""How many changes of a job are shown; JSON contains all."""

MOST_APART = 3
"""Up to this number of jobs, each is shown on its own; more are grouped by their changes."""


def text(comparison: Comparison, *, colour: bool = False) -> str:
    """Return the differences, then what could not be compared, as text, with an empty line between two jobs."""
    paint: Paint = coloured if colour else plain
    is_fleet = len(comparison.reviews) > MOST_APART
    jobs = fleet_parts(comparison, paint) if is_fleet else (_job(review, paint) for review in comparison.reviews)
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
    for reported in review.reported[:MOST_CHANGES]:
        yield from change_lines(reported, kinds, review.file, paint)
    if len(review.reported) > MOST_CHANGES:
        yield f"  … and {len(review.reported) - MOST_CHANGES} more: --format json has them all"
