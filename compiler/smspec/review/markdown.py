"""A review as a comment on a pull request: a table per job, a diagram where the data flow changed.

User text is in code spans, which contain no markup, no HTML, no links, and no mentions. A bar would end a table cell
even there, so it is written between two spans as a character reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from smspec.diagnostics.visible import visible
from smspec.review.comparison import Comparison
from smspec.review.data_flow import mermaid
from smspec.review.job_review import JobReview, ReportedChange
from smspec.review.missing_comparisons import Uncompared, variants
from smspec.review.shown_values import has_values, shown_values, under
from smspec.source import dotted

MOST_CHANGES = 20
MOST_JOBS = 30
"""How many jobs are shown: GitHub limits a comment to 65,536 characters."""

MOST_VERDICTS = 20
"""How many summaries of the jobs that are not shown are listed."""

MOST_OPEN = 3
"""With more jobs only the summaries are expanded: one line of a base spec can change a hundred jobs."""

MOST_REASONS = 4
"""How many reasons for a missing comparison are listed, and how many overlays in one reason."""

LONGEST_REASON = 200

_BAR = "<code>&#124;</code>"


def markdown(comparison: Comparison) -> str:
    """Return the comment; empty if all is equal. What was not compared comes first, so it is never truncated."""
    listed = comparison.reviews
    part = _job if len(listed) <= MOST_OPEN else _folded_job
    parts = ["\n".join(_unknown(comparison.uncompared)) + "\n"] if comparison.uncompared else []
    parts += ["\n".join(part(review)) + "\n" for review in listed[:MOST_JOBS]]
    if len(listed) > MOST_JOBS:
        parts.append("\n".join(_rest(listed[MOST_JOBS:])) + "\n")
    return "\n".join(parts)


def _unknown(jobs: Sequence[Uncompared]) -> Iterator[str]:
    yield f"### Not compared: {len(jobs)} {'job' if len(jobs) == 1 else 'jobs'}"
    yield ""
    yield "| job | where | why |"
    yield "|---|---|---|"
    for job in jobs[:MOST_JOBS]:
        named = f"{code(job.name)} in {code(job.file)}" if job.name else code(job.file)
        for reason in job.reasons[:MOST_REASONS]:
            overlays = ", ".join(map(code, variants(reason)[:MOST_REASONS]))
            place = code(f"{reason.first.span.file}:{reason.first.span.line}")
            more = f" and {reason.more} more" if reason.more else ""
            why = f"{reason.first.code}: {code(cut(reason.first.message))}{more}"
            yield f"| {named}{f' with the overlay {overlays}' if overlays else ''} | {place} | {why} |"
    if len(jobs) > MOST_JOBS:
        yield ""
        yield f"… and {len(jobs) - MOST_JOBS} more jobs."


def cut(text: str) -> str:
    """Return a text truncated to the length of a table cell."""
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _rest(reviews: Sequence[JobReview]) -> Iterator[str]:
    """Yield a summary of jobs that are not shown: how many there are of each kind of result."""
    yield f"… and {len(reviews)} more jobs; `smspec diff --format json` has them all:"
    yield ""
    verdicts = Counter(review.verdicts[0][1] for review in reviews)
    for words, number in verdicts.most_common(MOST_VERDICTS):
        yield f"- {number} {'job' if number == 1 else 'jobs'}: **{marked(words)}**"
    if len(verdicts) > MOST_VERDICTS:
        yield f"- {sum(number for _, number in verdicts.most_common()[MOST_VERDICTS:])} jobs: other verdicts"


def _job(review: JobReview) -> Iterator[str]:
    yield from _heading(review)
    yield from _details(review)


def _folded_job(review: JobReview) -> Iterator[str]:
    yield from _heading(review)
    yield f"<details><summary>{len(review.reported)} {'change' if len(review.reported) == 1 else 'changes'}</summary>"
    yield ""
    yield from _details(review)
    yield ""
    yield "</details>"


def _heading(review: JobReview) -> Iterator[str]:
    moved = f", was {code(review.old_file)}" if review.old_file != review.file else ""
    yield f"### {code(review.name)} in {code(review.file)}{moved}"
    yield ""
    for overlay, words in review.verdicts:
        variant = "" if overlay is None else f"With the overlay {code(overlay)}: "
        yield f"{variant}**{marked(words)}**"
        yield ""


def _details(review: JobReview) -> Iterator[str]:
    yield "| kind | where | what | old → new |"
    yield "|---|---|---|---|"
    for reported in review.reported[:MOST_CHANGES]:
        yield _row(reported, review.file)
    if len(review.reported) > MOST_CHANGES:
        yield ""
        yield f"… and {len(review.reported) - MOST_CHANGES} more changes."
    if review.flows is not None:
        yield ""
        yield "```mermaid"
        yield mermaid(review.name, *review.flows).rstrip("\n")
        yield "```"


def _row(reported: ReportedChange, file: str) -> str:
    change = reported.change
    where = code(dotted(change.path)) if change.path else ""
    if change.line and change.file:
        where += f" line {change.line}" if change.file == file else f" {code(f'{change.file}:{change.line}')}"
    overlays = under(reported, code)
    overlays = f" ({overlays})" if overlays else ""
    values = " → ".join(shown_values(change, code)) if has_values(change) else ""
    return f"| {change.kind} | {where.strip()} | {marked(change.what)}{overlays} | {values} |"


def marked(words: str) -> str:
    """Return a message with the user text in backticks as code."""
    parts = words.split("`")
    return "".join(code(part) if number % 2 else part for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as a code span that no part of it can end."""
    return "".join(_bars(part) if part[0] == "|" else _span(part) for part in re.split(r"(\|+)", visible(text)) if part)


def _bars(bars: str) -> str:
    return _BAR.replace("&#124;", "&#124;" * len(bars))


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # Markdown removes a space at both ends, which separates the fence from backticks; text of only spaces is kept.
    padded = f" {text} " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else text
    return f"{fence}{padded}{fence}"
