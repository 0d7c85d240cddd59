"""A review as a comment on a pull request: a table per job, a diagram where the data flow changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from smspec.review.comparison import Comparison
from smspec.review.data_flow import mermaid
from smspec.review.fail_on import Failure
from smspec.review.fleet.fleet_markdown import fleet_parts
from smspec.review.fleet.named_jobs import named
from smspec.review.job_review import JobReview
from smspec.review.markdown_code import code, marked
from smspec.review.markdown_table import change_table
from smspec.review.missing_comparisons import Uncompared, shared_reasons, variants
from smspec.review.text import MOST_APART

LONGEST = 60_000
"""Bytes of a comment: GitHub accepts 65,536 characters, and who posts it may add a heading."""

MOST_REASONS = 30
"""How many reasons for a missing comparison are listed."""

MOST_OVERLAYS = 4
"""How many overlays a reason lists."""

LONGEST_REASON = 200


def markdown(comparison: Comparison, failures: Sequence[Failure] = ()) -> str:
    """Return the comment; empty if all is equal.

    What fails `--fail-on`, changed settings, and what was not compared come first, so they are never truncated.
    """
    parts = ["\n".join(_failed(failures)) + "\n"] if failures else []
    parts += _settings(comparison.settings)
    parts += ["\n".join(_unknown(comparison.uncompared)) + "\n"] if comparison.uncompared else []
    if len(comparison.reviews) > MOST_APART:
        parts += fleet_parts(comparison, LONGEST - sum(len(part.encode()) + 1 for part in parts))
    else:
        parts += ["\n".join(_job(review)) + "\n" for review in comparison.reviews]
    return "\n".join(parts)


def _settings(reviews: Sequence[JobReview]) -> Iterator[str]:
    """Yield changed policies, prices, quotas, rules, and lockfiles; of many, the last ones by name."""
    if reviews:
        yield "### Changed settings, which apply to all jobs below them\n"
    room = LONGEST // 2
    for review in reviews:
        part = "\n".join((f"**{code(review.file)}**: {marked(review.verdicts[0][1])}", "", *_details(review))) + "\n"
        room -= len(part.encode())
        yield part if room > 0 else f"- {code(review.file)}\n"


def _failed(failures: Sequence[Failure]) -> Iterator[str]:
    jobs = len({id(failure.review) for failure in failures})
    gates = ", ".join(code(gate) for gate in dict.fromkeys(failure.gate for failure in failures))
    yield f"### Fails {gates}: {jobs} {'job' if jobs == 1 else 'jobs'}"
    yield ""
    yield "| job | `--fail-on` | what | where |"
    yield "|---|---|---|---|"
    for failure in failures[:MOST_REASONS]:
        what = marked(cut(failure.message()))
        yield f"| {code(failure.review.name)} | {code(failure.gate)} | {what} | {code(failure.place)} |"
    if len(failures) > MOST_REASONS:
        yield ""
        rest = Counter(failure.gate for failure in failures[MOST_REASONS:])
        counts = ", ".join(f"{number:,} {code(gate)}" for gate, number in rest.items())
        yield f"… and {len(failures) - MOST_REASONS:,} more: {counts}; `--format json` has them all."


def _unknown(jobs: Sequence[Uncompared]) -> Iterator[str]:
    yield f"### Not compared: {len(jobs)} {'job' if len(jobs) == 1 else 'jobs'}"
    yield ""
    yield "| job | where | why |"
    yield "|---|---|---|"
    reasons = shared_reasons(jobs)
    for shared in reasons[:MOST_REASONS]:
        reason = shared.reason
        names = [job.name or job.file for job in shared.jobs]
        who = f"{len(names):,} jobs: {named(names, show=code)}" if len(names) > 1 else _named(shared.jobs[0])
        overlays = ", ".join(map(code, variants(reason)[:MOST_OVERLAYS]))
        place = code(f"{reason.first.span.file}:{reason.first.span.line}")
        more = f" and {reason.more} more" if reason.more else ""
        why = f"{reason.first.code}: {code(cut(reason.first.message))}{more}"
        yield f"| {who}{f' with the overlay {overlays}' if overlays else ''} | {place} | {why} |"
    if len(reasons) > MOST_REASONS:
        yield ""
        yield f"… and {len(reasons) - MOST_REASONS} more reasons."


def _named(job: Uncompared) -> str:
    return f"{code(job.name)} in {code(job.file)}" if job.name else code(job.file)


def cut(text: str) -> str:
    """Return a text truncated to the length of a table cell."""
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _job(review: JobReview) -> Iterator[str]:
    yield from _heading(review)
    yield from _details(review)


def _heading(review: JobReview) -> Iterator[str]:
    moved = f", was {code(review.old_file)}" if review.old_file != review.file else ""
    yield f"### {code(review.name)} in {code(review.file)}{moved}"
    yield ""
    for overlay, words in review.verdicts:
        variant = "" if overlay is None else f"With the overlay {code(overlay)}: "
        yield f"{variant}**{marked(words)}**"
        yield ""


def _details(review: JobReview) -> Iterator[str]:
    yield from change_table(review.reported, review.file)
    if review.flows is not None:
        yield ""
        yield "```mermaid"
        yield mermaid(review.name, *review.flows).rstrip("\n")
        yield "```"
