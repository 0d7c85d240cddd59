"""The lines that show flowing channels: as wide as the screen allows, as many as it has room for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from smspec.local.quantities import size

_WINDOW_SECONDS = 2.0
_BARS = (16, 8, 8)
_SHORT_NAME, _SHORTEST_NAME = 16, 8


@dataclass(slots=True)
class Flow:
    """How far one channel of one host is. ``marks`` are (time, bytes over all epochs) of the last moments."""

    host: str
    channel: str
    epoch: int | None
    size: int = 0
    total: int | None = None
    before: int = 0
    is_over: bool = False
    marks: list[tuple[float, int]] = field(default_factory=list)

    def begin(self, epoch: int | None) -> None:
        """Go on with another epoch."""
        if self.epoch != epoch:
            self.before += self.size
            self.epoch, self.total = epoch, None

    def moved(self, now: float) -> None:
        """Take note of the moment at which `size` was reached."""
        recent = [mark for mark in self.marks if now - mark[0] <= _WINDOW_SECONDS]
        self.marks = [*(recent or self.marks[-1:]), (now, self.before + self.size)]

    def speed(self, now: float) -> float | None:
        """Return the bytes a second of the last moments."""
        if not self.marks or now <= self.marks[0][0]:
            return None
        start, count = self.marks[0]
        return (self.before + self.size - count) / (now - start)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    host: str
    channel: str
    what: str
    share: float | None
    size: str
    speed: str


def live_lines(flows: Sequence[Flow], now: float, width: int | None, most: int) -> list[str]:
    """Return a line per flow; one per channel when those would be more than ``most``. ``width`` None: no limit."""
    flows = sorted(flows, key=lambda flow: (len(flow.host), flow.host, flow.channel))
    rows = [_row(flow.host, [flow], now) for flow in flows]
    if len(rows) > most:
        channels: dict[str, list[Flow]] = {}
        for flow in flows:
            channels.setdefault(flow.channel, []).append(flow)
        rows = [_row(_hosts(members), members, now) for members in channels.values()]
    lines = _aligned(rows[:most], width)
    if len(rows) > most:
        lines.append(f"… and {len(rows) - most} more channels"[:width])
    return lines


def screen() -> tuple[int, int]:
    """Return the columns and lines of the terminal that standard error goes to."""
    try:
        columns, lines = os.get_terminal_size(2)
    except OSError:
        columns, lines = 80, 24
    return max(20, columns), max(4, lines)


def _row(host: str, flows: Sequence[Flow], now: float) -> _Row:
    epochs = sorted({flow.epoch for flow in flows if flow.epoch is not None})
    totals = [flow.total for flow in flows if flow.total]
    done = sum(flow.size for flow in flows)
    speeds = [speed for speed in (flow.speed(now) for flow in flows) if speed is not None]
    return _Row(
        host=host,
        channel=flows[0].channel,
        what=f"epoch {'-'.join(map(str, dict.fromkeys([epochs[0], epochs[-1]])))}" if epochs else "download",
        share=min(1.0, done / sum(totals)) if len(totals) == len(flows) else None,
        size=size(done),
        speed=f"{size(sum(speeds))}/s" if speeds else "-",
    )


def _hosts(flows: Sequence[Flow]) -> str:
    return flows[0].host if len(flows) == 1 else f"{len(flows)} hosts"


def _aligned(rows: Sequence[_Row], width: int | None) -> list[str]:
    """Bring the cells into columns. Where there is little room, bars get shorter, then channels' names."""
    if not rows:
        return []
    host, channel, what, speed = (
        max(len(cell) for cell in cells)
        for cells in zip(*((row.host, row.channel, row.what, row.speed) for row in rows), strict=True)
    )
    what, speed = max(8, what), max(9, speed)
    fixed = host + 2 + 2 + what + 2 + 8 + 2 + speed
    room = (width - 1 if width else 1000) - fixed
    bar, taken = 0, 0
    if any(row.share is not None for row in rows):
        # The bar gets shorter, then the names do, then the bar goes.
        names = (channel, channel, min(channel, _SHORT_NAME))
        bar = next((bar for bar, name in zip(_BARS, names, strict=True) if _bar_width(bar) + name <= room), 0)
        taken = _bar_width(bar)
    channel = min(channel, max(_SHORTEST_NAME, room - taken))
    return [
        (
            f"{row.host:{host}}  {_short(row.channel, channel):{channel}}  {row.what:{what}}  "
            f"{_bar(row.share, bar):{taken}}{row.size:>8}  {row.speed:>{speed}}"
        )[: width - 1 if width else None]
        for row in rows
    ]


def _bar_width(bar: int) -> int:
    """Return what a bar takes with its percentage and the gaps: ``[####....]  50%  ``."""
    return (bar + 3 if bar else 0) + 4 + 2


def _bar(share: float | None, width: int) -> str:
    if share is None:
        return ""
    full = int(share * width)
    bar = f"[{'#' * full}{'.' * (width - full)}] " if width else ""
    return f"{bar}{share:4.0%}  "


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
