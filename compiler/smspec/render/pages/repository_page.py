"""A page about the jobs of a repository: their cost, who reads whose data, and what was found in their specs.

Jobs that read each other's data are drawn in columns from left to right, each connected part on its own.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import visible
from smspec.render.data_flow import DataFlow
from smspec.render.pages import page_template
from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    import markupsafe


WIDTH, HEIGHT = 200, 34
"""The box of a job, in pixels."""

GAP_ACROSS, GAP_DOWN = 80, 12

MOST_DRAWN = 400
"""How many jobs are drawn at most; the lists of each job have all."""


@dataclass(frozen=True, slots=True)
class Box:
    """The job of a file, at its upper left corner."""

    file: str
    left: int
    top: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """From the right side of one box to the left side of the next: start, end, and what is read."""

    x1: int
    y1: int
    x2: int
    y2: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Jobs that are connected with each other."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


Reads = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Reader → writer → the channels; all are files of specs."""


def reads_of(flows: Sequence[DataFlow]) -> Reads:
    """Return which job reads the data of which others, in the order of the jobs."""
    writers: dict[str, list[str]] = {}
    for flow in flows:
        if flow.way == "writes" and flow.file not in writers.setdefault(flow.prefix, []):
            writers[flow.prefix].append(flow.file)
    reads: dict[str, dict[str, tuple[str, ...]]] = {}
    for flow in flows:
        if flow.way == "reads":
            for writer in writers.get(flow.prefix, ()):
                if writer != flow.file:
                    channels = reads.setdefault(flow.file, {}).get(writer, ())
                    reads[flow.file][writer] = tuple(dict.fromkeys([*channels, flow.what]))
    return reads


def drawings(reads: Reads) -> tuple[tuple[Drawing, ...], int]:
    """Return the drawings, those with most jobs first, and how many jobs there was no room for."""
    parts = sorted(_connected(reads), key=len, reverse=True)
    drawn: list[Drawing] = []
    room = MOST_DRAWN
    for part in parts:
        if len(part) <= room:
            room -= len(part)
            drawn.append(_drawing(part, reads))
    return tuple(drawn), sum(map(len, parts)) - sum(len(drawing.boxes) for drawing in drawn)


def _connected(reads: Reads) -> list[list[str]]:
    """Return the files of jobs that are connected, whatever the direction."""
    near: dict[str, list[str]] = {}
    for reader, writers in reads.items():
        for writer in writers:
            near.setdefault(reader, []).append(writer)
            near.setdefault(writer, []).append(reader)
    parts: list[list[str]] = []
    seen: set[str] = set()
    for first in near:
        if first not in seen:
            seen.add(first)
            part = [first]
            for file in part:  # it grows
                new = [other for other in dict.fromkeys(near[file]) if other not in seen]
                seen.update(new)
                part += new
            parts.append(part)
    return parts


def _drawing(part: Sequence[str], reads: Reads) -> Drawing:
    columns: dict[int, list[str]] = {}
    for file, column in _columns(part, reads).items():
        columns.setdefault(column, []).append(file)
    rows: dict[str, float] = {}
    for column in sorted(columns):

        def middle(file: str) -> float:
            known = [rows[writer] for writer in reads.get(file, ()) if writer in rows]
            return sum(known) / len(known) if known else float("inf")

        columns[column].sort(key=lambda file: (middle(file), file))
        rows.update({file: row for row, file in enumerate(columns[column])})
    most = max(map(len, columns.values()))
    boxes = {
        file: Box(file, column * (WIDTH + GAP_ACROSS), int((row + (most - len(files)) / 2) * (HEIGHT + GAP_DOWN)))
        for column, files in columns.items()
        for row, file in enumerate(files)
    }
    arrows = (
        _arrow(boxes[writer], boxes[reader], channels)
        for reader in part
        for writer, channels in reads.get(reader, {}).items()
    )
    return Drawing(
        width=max(columns) * (WIDTH + GAP_ACROSS) + WIDTH,
        height=most * (HEIGHT + GAP_DOWN) - GAP_DOWN,
        boxes=tuple(boxes.values()),
        arrows=tuple(arrows),
    )


def _columns(part: Sequence[str], reads: Reads) -> dict[str, int]:
    """Return the column of each job: right of all that it reads. A job that closes a circle does not move again."""
    columns = dict.fromkeys(part, 0)
    for _ in part:  # the longest path has no more steps
        moved = False
        for reader in part:
            column = max((columns[writer] + 1 for writer in reads.get(reader, ())), default=0)
            if columns[reader] < column < len(part):
                columns[reader] = column
                moved = True
        if not moved:
            return columns
    used = {column: number for number, column in enumerate(sorted(set(columns.values())))}
    return {file: used[column] for file, column in columns.items()}


def _arrow(source: Box, target: Box, channels: tuple[str, ...]) -> Arrow:
    middle = HEIGHT // 2
    ends = source.left + WIDTH, source.top + middle, target.left, target.top + middle
    return Arrow(*ends, ", ".join(channels))


LONGEST_LABEL = 26
"""Characters of a name in the box of a job."""

_SEVERITIES = ("error", "warning", "note")
_SCRIPT = "repository.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding:
    """``excerpt``: the lines of the spec, with the position, notes, and help, as in a terminal."""

    code: str
    severity: str
    message: str
    place: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageJob:
    """``file`` identifies it. ``cost``: the ceiling in words; ``hours``: its instance hours, None if unknown;
    ``usd``: the ceiling in dollars, None unless all its instances have a price in dollars.

    ``findings``: the numbers of its findings on the page. ``description``: what the author says of it.
    """

    name: str
    file: str
    description: str = ""
    overlays: tuple[str, ...] = ()
    hosts: str = ""
    cost: str = ""
    hours: float | None = None
    usd: float | None = None
    findings: tuple[int, ...] = ()


def repository_page(
    jobs: Sequence[PageJob],
    findings: Sequence[PageFinding],
    flows: Sequence[DataFlow],
    facts: Sequence[tuple[str, str]],
) -> str:
    """Return the page, with the jobs that have errors first. ``facts``: (name, text) lines of its head."""
    reads = reads_of(flows)
    ranks = {job.file: _rank(findings[number - 1].severity for number in job.findings) for job in jobs}
    jobs = sorted(jobs, key=lambda job: ranks[job.file])
    sizes = _sizes(jobs)
    numbers = {job.file: number for number, job in enumerate(jobs, 1)}
    names = {job.file: visible(job.name) for job in jobs}
    drawn, left_out = drawings(reads)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), _SCRIPT), encoding="utf-8") as file:
        script = file.read()
    severities = Counter(finding.severity for finding in findings)
    jobs_of: dict[int, list[PageJob]] = {}
    for job in jobs:
        for number in job.findings:
            jobs_of.setdefault(number, []).append(job)
    worst = {}
    for job in jobs:
        counts = Counter(findings[number - 1].severity for number in job.findings)
        worst[job.file] = [(severity, counts[severity]) for severity in _SEVERITIES if counts[severity]]
    return page_template("repository.html.j2").render(
        jobs=jobs,
        findings=findings,
        facts=[(name, visible(text)) for name, text in facts],
        counts=[(severity, severities[severity]) for severity in _SEVERITIES if severities[severity]],
        worst=worst,
        jobs_of=jobs_of,
        writes=_writes(flows),
        reads=reads,
        read_by=_turned(reads),
        numbers=numbers,
        names=names,
        ranks=ranks,
        sizes=sizes,
        meters=_meters(sizes),
        drawings=drawn,
        left_out=left_out,
        width=WIDTH,
        height=HEIGHT,
        visible=visible,
        label=_label,
        ticked=_ticked,
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _rank(severities: Iterable[str]) -> int:
    """Return 0 for a job with an error, up to 3 for one without findings."""
    return min(map(_SEVERITIES.index, severities), default=len(_SEVERITIES))


def _sizes(jobs: Sequence[PageJob]) -> Mapping[str, float]:
    """Return the cost ceiling of each job by its file.

    Hours of different instances cost differently: dollars count if every known ceiling has them, else instance hours.
    """
    hours = {job.file: job.hours for job in jobs if job.hours is not None}
    usd = {job.file: job.usd for job in jobs if job.usd is not None}
    return usd if usd.keys() == hours.keys() else hours


def _meters(sizes: Mapping[str, float]) -> Mapping[str, float]:
    """Return the width of each bar in percent: by the square root, so that small ones are seen beside a large one."""
    most = max(sizes.values(), default=0) or 1
    return {file: 100 * (size / most) ** 0.5 for file, size in sizes.items()}


def _writes(flows: Sequence[DataFlow]) -> Mapping[str, list[tuple[str, str]]]:
    """Return (what, prefix) that each job writes, by its file."""
    found: dict[str, list[tuple[str, str]]] = {}
    for flow in flows:
        if flow.way == "writes":
            overlays = f" ({', '.join(map(visible, flow.overlays))})" if flow.overlays else ""
            found.setdefault(flow.file, []).append((f"{flow.what}{overlays}", visible(flow.prefix)))
    return found


def _turned(reads: Reads) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reader, writers in reads.items():
        for writer in writers:
            found.setdefault(writer, []).append(reader)
    return found


def _ticked(text: str) -> markupsafe.Markup:
    """Return a message as HTML in which user text in backticks is code."""
    import markupsafe  # Imported late, with jinja2, which it belongs to.

    parts = [markupsafe.escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return markupsafe.escape(text)  # one of them is the user's
    code = markupsafe.Markup("<code>{}</code>")
    return markupsafe.Markup("").join(code.format(part) if n % 2 else part for n, part in enumerate(parts))


def _label(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 9]}…{name[-8:]}"
