"""The live progress lines of channels, fitted to the width and height of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from smspec.local.tables import lines_of
from smspec.local.units import size

_WINDOW_SECONDS = 2.0
_LONGEST_BAR, _SHORTEST_NAME = 16, 8


@dataclass(slots=True)
class Flow:
    """The progress of one channel of one host. ``marks`` are recent (time, bytes over all epochs)."""

    host: str
    channel: str
    epoch: int | None
    size: int = 0
    total: int | None = None
    before: int = 0
    is_over: bool = False
    marks: list[tuple[float, int]] = field(default_factory=list)

    def begin(self, epoch: int | None) -> None:
        """Start the next epoch."""
        if self.epoch != epoch:
            self.before += self.size
            self.epoch, self.total = epoch, None

    def moved(self, now: float) -> None:
        """Record the time at which `size` was reached."""
        recent = [mark for mark in self.marks if now - mark[0] <= _WINDOW_SECONDS]
        self.marks = [*(recent or self.marks[-1:]), (now, self.before + self.size)]

    def speed(self, now: float) -> float | None:
        """Return the recent bytes per second."""
        if not self.marks or now <= self.marks[0][0]:
            return None
        start, count = self.marks[0]
        return (self.before + self.size - count) / (now - start)


def live_lines(flows: Sequence[Flow], now: float, width: int | None, most: int, *, colored: bool = False) -> list[str]:
    """Return a line per flow; one per channel if those are more than ``most``. ``width`` None: no limit."""
    flows = sorted(flows, key=lambda flow: (len(flow.host), flow.host, flow.channel))
    groups = [[flow] for flow in flows]
    if len(groups) > most:
        channels: dict[str, list[Flow]] = {}
        for flow in flows:
            channels.setdefault(flow.channel, []).append(flow)
        groups = list(channels.values())
    lines = _aligned([(group, _share(group)) for group in groups[:most]], now, width, colored)
    if len(groups) > most:
        lines.append(f"… and {len(groups) - most} more channels"[:width])
    return lines


def _aligned(
    rows: Sequence[tuple[Sequence[Flow], float | None]], now: float, width: int | None, colored: bool
) -> list[str]:
    """Align the cells in columns. Names and bars are shortened to the available width."""
    from rich.progress_bar import ProgressBar
    from rich.table import Column, Table
    from rich.text import Text

    if not rows:
        return []
    shares = any(share is not None for _, share in rows)
    bars = shares and width is not None
    table = Table.grid(
        Column(no_wrap=True),
        Column(min_width=min(_SHORTEST_NAME, *(len(flows[0].channel) for flows, _ in rows))),
        Column(no_wrap=True),
        *([Column(max_width=_LONGEST_BAR)] if bars else []),
        *([Column(no_wrap=True, justify="right")] if shares else []),
        # Not by `min_width`: before rich 14.3 that adds the padding of the columns.
        Column(no_wrap=True, justify="right"),
        Column(no_wrap=True, justify="right"),
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    for flows, share in rows:
        bar = ProgressBar(total=1, completed=share) if share is not None else ""
        table.add_row(
            Text(flows[0].host if len(flows) == 1 else f"{len(flows)} hosts"),
            Text(flows[0].channel, no_wrap=True, overflow="ellipsis"),
            _what(flows),
            *([bar] if bars else []),
            *([f"{share:.0%}" if share is not None else ""] if shares else []),
            size(sum(flow.size for flow in flows)).rjust(len("999 MB")),
            _speed(flows, now).rjust(len("999 MB/s")),
        )
    return lines_of(table, width and width - 1, colored=colored)


def _share(flows: Sequence[Flow]) -> float | None:
    """Return the progress of the epoch, 0 to 1; None if its size is unknown."""
    totals = [flow.total for flow in flows if flow.total]
    return min(1.0, sum(flow.size for flow in flows) / sum(totals)) if len(totals) == len(flows) else None


def _what(flows: Sequence[Flow]) -> str:
    epochs = sorted({flow.epoch for flow in flows if flow.epoch is not None})
    return f"epoch {'-'.join(map(str, dict.fromkeys([epochs[0], epochs[-1]])))}" if epochs else "download"


def _speed(flows: Sequence[Flow], now: float) -> str:
    speeds = [speed for speed in (flow.speed(now) for flow in flows) if speed is not None]
    return f"{size(sum(speeds))}/s" if speeds else "-"
