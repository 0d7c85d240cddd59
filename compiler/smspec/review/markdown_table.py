"""The changes of a job, or of several, as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smspec.review.job_review import ReportedChange
from smspec.review.markdown_code import code, marked
from smspec.review.shown_values import has_values, shown_values, under
from smspec.source import dotted

MOST_CHANGES = 20
"""How many changes a table has."""


def change_table(
    reported: Sequence[ReportedChange], file: str, effects: Iterable[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the lines of a table; places in ``file`` are lines. ``effects``: (kind, text) of more rows."""
    yield "| kind | where | what | old → new |"
    yield "|---|---|---|---|"
    for each in reported[:MOST_CHANGES]:
        yield _row(each, file)
    for kind, what in effects:
        yield f"| {kind} | | {marked(what)} | |"
    if len(reported) > MOST_CHANGES:
        yield ""
        yield f"… and {len(reported) - MOST_CHANGES} more changes."


def _row(reported: ReportedChange, file: str) -> str:
    change = reported.change
    where = code(dotted(change.path)) if change.path else ""
    if change.line and change.file:
        where += f" line {change.line}" if change.file == file else f" {code(f'{change.file}:{change.line}')}"
    overlays = under(reported, code)
    overlays = f" ({overlays})" if overlays else ""
    values = " → ".join(shown_values(change, code)) if has_values(change) else ""
    return f"| {change.kind} | {where.strip()} | {marked(change.what)}{overlays} | {values} |"
