"""A review as a comment on a pull request: a table per job, a picture where the data flow changed.

Whatever a user wrote stands in code spans, which know no markup, no HTML, no links and no mentions. A bar would end a
table's cell even there, so it stands between two spans as a character reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from smspec.diagnostics.visible import visible
from smspec.review.data_flow import mermaid
from smspec.review.job_review import JobReview, Told
from smspec.review.shown_values import has_values, shown_values, under
from smspec.source import dotted

MOST_CHANGES = 20
MOST_JOBS = 30
"""How many are shown: a comment has an end (GitHub's at 65,536 characters), and so has a reader."""

MOST_VERDICTS = 20
"""How many of those are told of the jobs that are not shown."""

MOST_OPEN = 3
"""Of more jobs, all that is seen at first are the verdicts: one line of a base can change a hundred jobs."""

_BAR = "<code>&#124;</code>"


def markdown(reviews: Iterable[JobReview]) -> str:
    """Return the comment; nothing at all when nothing changed."""
    listed = list(reviews)
    part = _job if len(listed) <= MOST_OPEN else _folded_job
    parts = ["\n".join(part(review)) + "\n" for review in listed[:MOST_JOBS]]
    if len(listed) > MOST_JOBS:
        parts.append("\n".join(_rest(listed[MOST_JOBS:])) + "\n")
    return "\n".join(parts)


def _rest(reviews: list[JobReview]) -> Iterator[str]:
    """Yield what is said of jobs that are not shown: how many there are of each verdict, so that none is overlooked."""
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
    yield f"<details><summary>{len(review.told)} {'change' if len(review.told) == 1 else 'changes'}</summary>"
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
    for told in review.told[:MOST_CHANGES]:
        yield _row(told, review.file)
    if len(review.told) > MOST_CHANGES:
        yield ""
        yield f"… and {len(review.told) - MOST_CHANGES} more changes."
    if review.flows is not None:
        yield ""
        yield "```mermaid"
        yield mermaid(review.name, *review.flows).rstrip("\n")
        yield "```"


def _row(told: Told, file: str) -> str:
    change = told.change
    where = code(dotted(change.path)) if change.path else ""
    if change.line and change.file:
        where += f" line {change.line}" if change.file == file else f" {code(f'{change.file}:{change.line}')}"
    overlays = under(told, code)
    overlays = f" ({overlays})" if overlays else ""
    values = " → ".join(shown_values(change, code)) if has_values(change) else ""
    return f"| {change.kind} | {where.strip()} | {marked(change.what)}{overlays} | {values} |"


def marked(words: str) -> str:
    """Return our words with what users wrote, in backticks, as code."""
    parts = words.split("`")
    return "".join(code(part) if number % 2 else part for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as code that nothing in it can end."""
    return "".join(_bars(part) if part[0] == "|" else _span(part) for part in re.split(r"(\|+)", visible(text)) if part)


def _bars(bars: str) -> str:
    return _BAR.replace("&#124;", "&#124;" * len(bars))


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # A blank at both ends is taken away again, and parts the fence from backticks; only blanks stay as they are.
    padded = f" {text} " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else text
    return f"{fence}{padded}{fence}"
