"""Show the progress of a run: log lines, and on a terminal one live line per active channel.

Elsewhere (a file, CI) it prints log lines, and occasionally one line of progress.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from smspec.diagnostics.visible import visible
from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, Event, FaultInjected, HostEnded, LogLine, Remark
from smspec.local.injected_faults import describe
from smspec.local.live_lines import Flow, live_lines
from smspec.local.measurements import METRICS
from smspec.local.request import Console
from smspec.local.terminal import screen

_FRAME_SECONDS = 0.2
_FIRST_PLAIN_SECONDS = 0.3
"""The delay before a download is shown; most are over by then."""
_PLAIN_SECONDS = 10.0
_MOST_LINES = 12


class Progress:
    """Draws events on ``console``."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        screen: Callable[[], tuple[int, int]] = screen,
        verbosity: int = 0,
    ) -> None:
        self._console = console
        self._verbosity = verbosity
        self._clock = clock
        self._start = clock()
        self._screen = screen
        self._flows: dict[tuple[str, str], Flow] = {}
        self._pending: list[str] = []
        self._drawn = 0
        self._last_frame = self._clock()
        self._changed = False
        self._has_shown_download = False

    def report(self, event: Event) -> None:
        """Handle an event; log lines and remarks appear with the next `tick`."""
        if self._verbosity < 0:
            if isinstance(event, Remark) and event.warning:
                self._pending.append(f"warning: {visible(event.text)}\n")
        elif isinstance(event, LogLine):
            # For programs that watch the log; people have the published line before it and the table at the end.
            if self._verbosity > 0 or not event.text.startswith(METRICS):
                self._pending.append(f"{self._time()}{event.host} | {event.text}\n")
        elif isinstance(event, Remark):
            self._pending.append(f"{'warning: ' if event.warning else ''}{visible(event.text)}\n")
        elif isinstance(event, FaultInjected):
            self._pending.append(f"{describe(event)}\n")
        elif isinstance(event, HostEnded):
            self._forget(event.host)
        elif isinstance(event, ChannelLaid | EpochFed | EpochEnded):
            self._flowed(event)
        if len(self._pending) > 1000:
            self._show(draw=False)

    def tick(self) -> None:
        """Show what is new, at most five times per second on a terminal."""
        now = self._clock()
        if self._console.err_is_terminal:
            if self._pending or (self._changed and now - self._last_frame >= _FRAME_SECONDS):
                self._show(draw=True)
                self._last_frame = now
            return
        if self._changed and now - self._last_frame >= self._plain_seconds():
            self._pending += [f"{line}\n" for line in self._lines(None, _MOST_LINES)]
            self._last_frame = now
            self._changed = False
            self._has_shown_download = True
        self._show(draw=False)

    def close(self) -> None:
        """Show the rest and remove the live lines."""
        self._flows.clear()
        self._show(draw=False)

    def _time(self) -> str:
        return f"{self._clock() - self._start:8.2f} s  " if self._verbosity > 0 else ""

    def _plain_seconds(self) -> float:
        downloads = any(flow.epoch is None and not flow.is_over for flow in self._flows.values())
        return _FIRST_PLAIN_SECONDS if downloads and not self._has_shown_download else _PLAIN_SECONDS

    def _show(self, *, draw: bool) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        if self._drawn:
            # Move up to the first live line, and clear from there. rich.live would hide the cursor, and a killed run
            # would leave it hidden.
            text = f"\x1b[{self._drawn}F\x1b[J{text}"
            self._drawn = 0
        if draw:
            lines = self._live_lines()
            self._drawn = len(lines)
            text += "".join(f"{line}\n" for line in lines)
            self._changed = False
        if text:
            self._console.paint(text)

    def _live_lines(self) -> list[str]:
        width, height = self._screen()
        return self._lines(width, min(_MOST_LINES, height - 2))

    def _lines(self, width: int | None, most: int) -> list[str]:
        active = [flow for flow in self._flows.values() if not flow.is_over]
        return live_lines(active, self._clock(), width, most, colored=self._console.err_in_colour)

    def _flowed(self, event: ChannelLaid | EpochFed | EpochEnded) -> None:
        epoch = None if isinstance(event, ChannelLaid) else event.epoch
        key = event.host, event.channel
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = Flow(event.host, event.channel, epoch)
            flow.moved(self._clock() - event.seconds)
            if epoch is None and not self._has_shown_download:
                self._last_frame = self._clock()
        flow.begin(epoch)
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
