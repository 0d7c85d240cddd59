"""The review of many jobs as a comment on a pull request: a table, then a line to expand for each group of changes."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence

from smspec.diagnostics.visible import visible
from smspec.review.comparison import Comparison
from smspec.review.data_flow import mermaid
from smspec.review.fleet.change_groups import ChangeGroup, change_groups
from smspec.review.fleet.fleet_summary import summary_rows
from smspec.review.fleet.group_effects import effect_rows
from smspec.review.fleet.headline import headline
from smspec.review.fleet.named_jobs import named
from smspec.review.markdown_code import code, marked
from smspec.review.markdown_table import change_table

MOST_EXPANDABLE = 30
"""How many groups have their details."""

MOST_LISTED = 100
"""How many groups are listed."""

NAMES_WIDTH = 2000


def fleet_parts(comparison: Comparison, room: int) -> Iterator[str]:
    """Yield the parts of the comment, which together have at most ``room`` bytes."""
    summary = _summary(comparison)
    yield summary
    room -= _size(summary)
    groups = change_groups(comparison.reviews)
    urgent = groups[:MOST_LISTED]
    shown = {id(group): f"- {_headline(group)}\n" for group in urgent}
    room -= sum(map(_size, shown.values()))
    for group in urgent[:MOST_EXPANDABLE]:
        details = _details(group)
        more = _size(details) - _size(shown[id(group)])
        if more <= room:
            shown[id(group)] = details
            room -= more
    yield from shown.values()
    if len(groups) > len(urgent):
        rest = Counter(kind for group in groups[MOST_LISTED:] for kind in {change.kind for change in group.changes})
        counts = ", ".join(f"{number:,} with {code(kind)}" for kind, number in sorted(rest.items()))
        number = len(groups) - len(urgent)
        yield f"… and {number:,} more groups of changes, {counts}; `smspec diff --format json` has them all.\n"


def _size(text: str) -> int:
    return len(text.encode()) + 1


def _summary(comparison: Comparison) -> str:
    (_, jobs), *rows = summary_rows(comparison)
    lines = [f"### Jobs: {jobs}", "", *(["| effect | of all changes |", "|---|---|"] if rows else [])]
    lines += [f"| {subject} | {marked(words)} |" for subject, words in rows]
    return "".join(f"{line}\n" for line in lines)


def _headline(group: ChangeGroup) -> str:
    """Return the headline as HTML, which is also Markdown outside of a table."""
    who = _html_code(group.jobs[0].name) if len(group.jobs) == 1 else f"{len(group.jobs):,} jobs"
    return f"<b>{who}</b>: {headline(group, _html_code, _html_marked)}"


def _details(group: ChangeGroup) -> str:
    lines = [f"<details><summary>{_headline(group)}</summary>", "", _jobs(group), ""]
    lines += change_table(group.reported, group.jobs[0].file if len(group.jobs) == 1 else "", effect_rows(group))
    if len(group.jobs) == 1 and group.jobs[0].flows is not None:
        lines += ["", "```mermaid", mermaid(group.jobs[0].name, *group.jobs[0].flows).rstrip("\n"), "```"]
    return "".join(f"{line}\n" for line in [*lines, "", "</details>"])


def _jobs(group: ChangeGroup) -> str:
    if len(group.jobs) > 1:
        return named([review.name for review in group.jobs], columns=NAMES_WIDTH, show=code)
    (review,) = group.jobs
    return f"{code(review.file)}{f', was {code(review.old_file)}' if review.old_file != review.file else ''}"


def _html_marked(words: str) -> str:
    parts: Sequence[str] = words.split("`")
    return "".join(_html_code(part) if number % 2 else html.escape(part) for number, part in enumerate(parts))


def _html_code(text: str) -> str:
    """Return a text as code in HTML, in which neither Markdown nor a table finds any of its marks."""
    escaped = (char if char.isalnum() or char in " -_/:.,→…" else f"&#{ord(char)};" for char in visible(text))
    return f"<code>{''.join(escaped)}</code>"
