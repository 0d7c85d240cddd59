"""Draws a run on a terminal while it lasts: log lines above, one line per flowing channel below.

Elsewhere (a file, CI) it prints log lines, and now and then one line of progress.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from smspec.diagnostics.visible import visible
from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, Event, FaultInjected, HostEnded, LogLine, Remark
from smspec.local.quantities import rate, size
from smspec.local.rehearsal import told
from smspec.local.request import Console

_FRAME_SECONDS = 0.1
_PLAIN_SECONDS = 10.0
_WINDOW_SECONDS = 2.0
_MOST_LINES = 12
_BAR = 16
METRICS = '{"smspec": "pipe", '
"""How the runtime's line of measurements begins, one per channel and epoch (smspec_runtime/pipe/loop.py)."""


@dataclass(slots=True)
class _Flow:
    """How far one channel of one host is. ``marks`` are (time, bytes over all epochs) of the last moments."""

    host: str
    channel: str
    epoch: int | None
    size: int = 0
    total: int | None = None
    before: int = 0
    is_over: bool = False
    marks: tuple[tuple[float, int], ...] = ()

    def moved(self, now: float) -> None:
        recent = tuple(mark for mark in self.marks if now - mark[0] <= _WINDOW_SECONDS)
        self.marks = (*(recent or self.marks[-1:]), (now, self.before + self.size))

    def speed(self, now: float) -> str:
        if not self.marks:
            return "-"
        start, count = self.marks[0]
        return rate(self.before + self.size - count, now - start)


class Progress:
    """Draws on ``console`` what it is told."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] | None = None,
    ) -> None:
        self._console = console
        self._clock = clock
        self._width = width or terminal_width
        self._flows: dict[tuple[str, str], _Flow] = {}
        self._pending: list[str] = []
        self._drawn = 0
        self._last_frame = self._clock()
        self._changed = False

    def report(self, event: Event) -> None:
        """Take note of an event; log lines and remarks appear with the next `tick`."""
        if isinstance(event, LogLine):
            # For programs that watch the log; people have the published line before it and the table at the end.
            if not event.text.startswith(METRICS):
                self._pending.append(f"{event.host} | {event.text}\n")
        elif isinstance(event, Remark):
            self._pending.append(f"{'warning: ' if event.warning else ''}{visible(event.text)}\n")
        elif isinstance(event, FaultInjected):
            self._pending.append(f"{told(event)}\n")
        elif isinstance(event, HostEnded):
            self._forget(event.host)
        else:
            self._flowed(event)
        if len(self._pending) > 1000:
            self._show(draw=False)

    def tick(self) -> None:
        """Show what is new, at most ten times a second on a terminal."""
        now = self._clock()
        if self._console.err_is_terminal:
            if self._pending or (self._changed and now - self._last_frame >= _FRAME_SECONDS):
                self._show(draw=True)
                self._last_frame = now
            return
        if self._changed and now - self._last_frame >= _PLAIN_SECONDS:
            self._pending += [f"{self._line(flow, now)}\n" for flow in self._flows.values() if not flow.is_over]
            self._last_frame = now
            self._changed = False
        self._show(draw=False)

    def close(self) -> None:
        """Show what is left and take the live lines away."""
        self._flows.clear()
        self._show(draw=False)

    def _show(self, *, draw: bool) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        if self._drawn:
            text = f"\x1b[{self._drawn}F\x1b[J{text}"  # up to the first live line, and clear from there
            self._drawn = 0
        if draw:
            lines = self._live_lines()
            self._drawn = len(lines)
            text += "".join(f"{line}\n" for line in lines)
            self._changed = False
        if text:
            self._console.write(text)

    def _live_lines(self) -> list[str]:
        now = self._clock()
        width = self._width()
        active = [flow for flow in self._flows.values() if not flow.is_over]
        lines = [self._line(flow, now)[: width - 1] for flow in active[:_MOST_LINES]]
        if len(active) > _MOST_LINES:
            lines.append(f"… and {len(active) - _MOST_LINES} more"[: width - 1])
        return lines

    def _line(self, flow: _Flow, now: float) -> str:
        hosts = max(len(other.host) for other in self._flows.values())
        channels = max(len(other.channel) for other in self._flows.values())
        what = "download" if flow.epoch is None else f"epoch {flow.epoch}"
        bar = _bar(flow.size, flow.total)
        return (
            f"{flow.host:{hosts}}  {flow.channel:{channels}}  {what:8}  {bar}"
            f"{size(flow.size):>8}  {flow.speed(now):>7} MB/s"
        )

    def _flowed(self, event: ChannelLaid | EpochFed | EpochEnded) -> None:
        epoch = None if isinstance(event, ChannelLaid) else event.epoch
        key = event.host, event.channel
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = _Flow(event.host, event.channel, epoch)
            flow.moved(self._clock() - event.seconds)
        if flow.epoch != epoch:
            flow.before += flow.size
            flow.epoch = epoch
            flow.total = None
        flow.size = event.size
        if not isinstance(event, EpochEnded):
            flow.total = event.total
        flow.is_over = isinstance(event, ChannelLaid) and event.size == event.total
        flow.moved(self._clock())
        self._changed = True

    def _forget(self, host: str) -> None:
        for key in [key for key in self._flows if key[0] == host]:
            del self._flows[key]
        self._changed = True


def _bar(done: int, total: int | None) -> str:
    if not total:
        return ""
    share = min(1.0, done / total)
    full = int(share * _BAR)
    return f"[{'#' * full}{'.' * (_BAR - full)}] {share:4.0%}  "


def terminal_width() -> int:
    """Return how many columns the terminal has that standard error goes to."""
    try:
        return max(20, os.get_terminal_size(2).columns)
    except OSError:
        return 80
