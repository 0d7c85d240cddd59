"""A review as a comment on a pull request: a table per job, a diagram where the data flow changed.

Of many jobs: a table of the effects, then a line to expand for each group of changes.

Code spans contain no markup, no HTML, no links, and no mentions. A bar would end a table cell even there, so it is
written between two spans as a character reference.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from smspec.diagnostics.quoting import visible, without_tokens
from smspec.render.data_flow import mermaid_label
from smspec.review.change import ReportedChange, foremost, has_values, shown_values, under
from smspec.review.change_groups import ChangeGroup, change_groups
from smspec.review.comparison import Comparison, Uncompared, shared_reasons, variants
from smspec.review.fail_on import Failure
from smspec.review.job_review import DataFlow, JobReview
from smspec.review.text import MOST_APART, effect_rows, headline, named, summary_rows
from smspec.source import dotted

LONGEST = 60_000
"""Bytes of a comment: GitHub accepts 65,536 characters, and who posts it may add a heading."""

MOST_REASONS = 30
"""How many reasons for a missing comparison are listed."""

MOST_OVERLAYS = 4
"""How many overlays a reason lists."""

LONGEST_REASON = 200

MOST_EXPANDABLE = 30
"""How many groups have their details."""

MOST_LISTED = 100
"""How many groups are listed."""

NAMES_WIDTH = 2000

MOST_CHANGES = 20
"""How many changes a table has."""


def markdown(comparison: Comparison, failures: Sequence[Failure] = ()) -> str:
    """Return the comment; empty if all is equal.

    What fails `--fail-on`, changed settings, and what was not compared come first, so they are never truncated.
    """
    parts = ["\n".join(_failed(failures)) + "\n"] if failures else []
    parts += _settings(comparison.settings)
    parts += ["\n".join(_unknown(comparison.uncompared)) + "\n"] if comparison.uncompared else []
    if len(comparison.reviews) > MOST_APART:
        parts += _fleet_parts(comparison, LONGEST - sum(len(part.encode()) + 1 for part in parts))
    else:
        room = (LONGEST - sum(map(_size, parts))) // max(len(comparison.reviews), 1)
        parts += [_job(review, room) for review in comparison.reviews]
    return "\n".join(parts)


def _settings(reviews: Sequence[JobReview]) -> Iterator[str]:
    """Yield changed policies, prices, quotas, rules, and lockfiles; of many, the last ones by name."""
    if reviews:
        yield "### Changed settings, which apply to all jobs below them\n"
    room = LONGEST // 2
    for review in reviews:
        details = (*change_table(review.reported, review.file), *_diagram(review))
        part = "\n".join((f"**{code(review.file)}**: {marked(review.verdicts[0][1])}", "", *details)) + "\n"
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
        what = marked(_cut(failure.message()))
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
        why = f"{reason.first.code}: {code(_cut(reason.first.message))}{more}"
        yield f"| {who}{f' with the overlay {overlays}' if overlays else ''} | {place} | {why} |"
    if len(reasons) > MOST_REASONS:
        yield ""
        yield f"… and {len(reasons) - MOST_REASONS} more reasons."


def _named(job: Uncompared) -> str:
    return f"{code(job.name)} in {code(job.file)}" if job.name else code(job.file)


def _cut(text: str) -> str:
    """Return a text truncated to the length of a table cell."""
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _job(review: JobReview, room: int) -> str:
    """Return a job in at most ``room`` bytes: a long one without its diagram, or with fewer rows and overlays."""
    diagram = list(_diagram(review))
    lines: list[str] = []
    for most, verdicts, more in (
        (MOST_CHANGES, len(review.verdicts), diagram),
        *((most, max(1, min(most, MOST_OVERLAYS)), []) for most in (MOST_CHANGES, 10, 5, 2, 1, 0)),
    ):
        lines = [*_heading(review, verdicts), *change_table(review.reported, review.file, most=most), *more]
        if sum(map(_size, lines)) <= room:
            break
    return "".join(f"{line}\n" for line in lines)


def _heading(review: JobReview, most: int) -> Iterator[str]:
    yield f"### {code(review.name)} in {_files(review)}"
    yield ""
    for overlay, words in review.verdicts[:most]:
        variant = "" if overlay is None else f"With the overlay {code(overlay)}: "
        yield f"{variant}**{marked(words)}**"
        yield ""
    if len(review.verdicts) > most:
        yield f"… and {len(review.verdicts) - most} more overlays."
        yield ""


def _diagram(review: JobReview) -> Iterator[str]:
    if review.flows is not None:
        yield from ("", "```mermaid", mermaid(review.name, *review.flows).rstrip("\n"), "```")


def _files(review: JobReview) -> str:
    return f"{code(review.file)}{f', was {code(review.old_file)}' if review.old_file != review.file else ''}"


def _fleet_parts(comparison: Comparison, room: int) -> Iterator[str]:
    """Yield the parts of the comment, which together have at most ``room`` bytes."""
    summary = _fleet_summary(comparison)
    yield summary
    room -= _size(summary)
    groups = change_groups(comparison.reviews)
    urgent = groups[:MOST_LISTED]
    shown = {id(group): f"- {_group_headline(group)}\n" for group in urgent}
    room -= sum(map(_size, shown.values()))
    for group in urgent[:MOST_EXPANDABLE]:
        details = _group_details(group)
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


def _fleet_summary(comparison: Comparison) -> str:
    (_, jobs), *rows = summary_rows(comparison)
    lines = [f"### Jobs: {jobs}", "", *(["| effect | of all changes |", "|---|---|"] if rows else [])]
    lines += [f"| {subject} | {marked(words)} |" for subject, words in rows]
    return "".join(f"{line}\n" for line in lines)


def _group_headline(group: ChangeGroup) -> str:
    """Return the headline as HTML, which is also Markdown outside of a table."""
    who = _html_code(group.jobs[0].name) if len(group.jobs) == 1 else f"{len(group.jobs):,} jobs"
    return f"<b>{who}</b>: {headline(group, _html_code, _html_marked)}"


def _group_details(group: ChangeGroup) -> str:
    lines = [f"<details><summary>{_group_headline(group)}</summary>", "", _group_jobs(group), ""]
    lines += change_table(group.reported, group.jobs[0].file if len(group.jobs) == 1 else "", effect_rows(group))
    lines += _diagram(group.jobs[0]) if len(group.jobs) == 1 else []
    return "".join(f"{line}\n" for line in [*lines, "", "</details>"])


def _group_jobs(group: ChangeGroup) -> str:
    if len(group.jobs) > 1:
        return named([review.name for review in group.jobs], columns=NAMES_WIDTH, show=code)
    return _files(group.jobs[0])


def _html_marked(words: str) -> str:
    parts: Sequence[str] = words.split("`")
    return "".join(_html_code(part) if number % 2 else html.escape(part) for number, part in enumerate(parts))


def _html_code(text: str) -> str:
    """Return a text as code in HTML, in which neither Markdown nor a table finds any of its marks."""
    escaped = (char if char.isalnum() or char in " -_/:.,→…" else f"&#{ord(char)};" for char in visible(text))
    return f"<code>{''.join(escaped)}</code>"


def change_table(
    reported: Sequence[ReportedChange],
    file: str,
    effects: Iterable[tuple[str, str]] = (),
    most: int = MOST_CHANGES,
) -> Iterator[str]:
    """Yield the lines of a table; places in ``file`` are lines. ``effects``: (kind, text) of more rows."""
    yield "| kind | where | what | old → new |"
    yield "|---|---|---|---|"
    shown, rest = foremost(reported, most)
    for each in shown:
        yield _row(each, file)
    for kind, what in effects:
        yield f"| {kind} | | {marked(what)} | |"
    if rest:
        yield ""
        yield f"… and {rest}; `smspec diff --format json` has them all."


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
    parts = filter(None, re.split(r"(\|+)", visible(text)))
    return "".join(f"<code>{'&#124;' * len(part)}</code>" if part[0] == "|" else _span(part) for part in parts)


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # Markdown removes a space at both ends, which separates the fence from backticks; text of only spaces is kept.
    padded = f" {text} " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else text
    return f"{fence}{padded}{fence}"


def mermaid(name: str, old: DataFlow, new: DataFlow) -> str:
    """Return the flowchart of the new flow: new edges are thick, removed ones dotted."""
    lines = ["flowchart LR", f"  job[{_label(name)}]"]
    for number, stream in enumerate(dict.fromkeys([*new, *old])):
        arrow = "==>" if stream not in old else "-.->" if stream not in new else "-->"
        fate = "new: " if stream not in old else "gone: " if stream not in new else ""
        words = _label(fate + stream.name + (f" ({stream.how})" if stream.how else ""))
        lines.append(f"  place{number}[{_label(stream.place)}]")
        ends = (f"place{number}", "job") if stream.comes_in else ("job", f"place{number}")
        lines.append(f"  {ends[0]} {arrow}|{words}| {ends[1]}")
    return "".join(f"{line}\n" for line in lines)


def _label(text: str) -> str:
    text = without_tokens(text)  # before it is truncated: half a token may not be recognized
    return mermaid_label(text if len(text) <= 100 else f"{text[:60]}…{text[-39:]}")
