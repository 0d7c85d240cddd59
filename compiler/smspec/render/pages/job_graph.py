"""Where jobs that read each other's data are drawn: in columns from left to right, each connected part on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smspec.render.data_flow import DataFlow
from smspec.source.frozen import dataclass

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
