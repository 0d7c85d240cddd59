"""Show the progress of a run: log lines, and on a terminal one live line per active channel.

Elsewhere (a file, CI) it prints log lines, and occasionally one line of progress. `InstallerLines` shows installers.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence

from smspec.diagnostics.quoting import plain_spaces, visible
from smspec.local.record.flows import METRICS, describe
from smspec.local.record.units import lines_of, screen, size
from smspec.local.running.events import (
    ChannelLaid,
    EpochEnded,
    EpochFed,
    Event,
    FaultInjected,
    HostEnded,
    LogLines,
    PackagesDownloaded,
    Remark,
)
from smspec.local.running.request import RunConsole, RunRequest

_FRAME_SECONDS = 0.2
_FIRST_PLAIN_SECONDS = 0.3
"""The delay before a download is shown; most are over by then."""
_PLAIN_SECONDS = 10.0
_MOST_LINES = 12
_WINDOW_SECONDS = 2.0
_LONGEST_BAR, _SHORTEST_NAME = 16, 8
_PACKAGES = "packages"

_DOWNLOADING = (
    r" *Downloading (?:\S*/)?(?P<name>[A-Za-z0-9_.]+(?:-[A-Za-z_][A-Za-z0-9_.]*)*)(?P<file>-\S+)?"
    r" \((?P<size>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?(?P<unit>[kKMG]i?B)\)"
)
_DOWNLOADED = r" *Downloaded (\S+)"
_UNITS = {"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SOON = 0.3
"""Seconds in which uv names what it downloads."""
_KEPT_LINES = 40
_LONGEST_SEARCHED = 1024
"""Characters of a line: a build of a package prints what it likes, and a search of 64 KiB takes 16 seconds."""

_MOST_NAMED = 3


class Progress:
    """Draws events on ``console``."""

    def __init__(
        self,
        console: RunConsole,
        clock: Callable[[], float] = time.monotonic,
        screen: Callable[[], tuple[int, int]] = screen,
        verbosity: int = 0,
    ) -> None:
        self._console = console
        self._verbosity = verbosity
        self._clock = clock
        self._start = clock()
        self._screen = screen
        self._flows: dict[tuple[str, str], ChannelProgress] = {}
        self._pending: list[str] = []
        self._drawn: list[str] = []
        self._frame: list[str] = []
        self._framed_at: float | None = None
        self._last_frame = self._clock()
        self._changed = False
        self._has_shown_download = False

    def report(self, event: Event) -> None:
        """Handle an event; log lines and remarks appear with the next `tick`."""
        if self._verbosity < 0:
            if isinstance(event, Remark) and event.warning:
                self._pending.append(f"warning: {visible(event.text)}\n")
        elif isinstance(event, LogLines):
            self._logged(event)
        elif isinstance(event, Remark):
            self._pending.append(f"{'warning: ' if event.warning else ''}{visible(event.text)}\n")
        elif isinstance(event, FaultInjected):
            self._pending.append(f"{describe(event)}\n")
        elif isinstance(event, HostEnded):
            self._forget(event.host)
        elif isinstance(event, ChannelLaid | EpochFed | EpochEnded):
            self._flowed(event)
        elif isinstance(event, PackagesDownloaded) and self._console.err_is_terminal:
            self._downloaded(event)  # a log has the line of `InstallerLines`
        if len(self._pending) > 1000:
            self._show(draw=False)

    def _logged(self, event: LogLines) -> None:
        start = f"{self._time()}{event.host} | "
        # For programs that watch the log; people have the published line before it and the table at the end.
        for text in [event.text] if self._verbosity > 0 else event.text.divided(METRICS):
            if self._verbosity > 0 or not text.starts_with(METRICS):
                self._pending.append(f"{start}{plain_spaces(text.joined(start))}\n")

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
            text = f"\x1b[{len(self._drawn)}F\x1b[J{text}"
        self._drawn = self._live_lines() if draw else []
        text += "".join(f"{line}\n" for line in self._drawn)
        if text:
            self._console.paint(text)

    def _live_lines(self) -> list[str]:
        """Return the live lines, which a log that scrolls above them does not make anew each time."""
        now = self._clock()
        if self._framed_at is None or now - self._framed_at >= _FRAME_SECONDS:
            width, height = self._screen()
            self._frame = self._lines(width, min(_MOST_LINES, height - 2))
            self._framed_at = now
            self._changed = False
        return self._frame

    def _lines(self, width: int | None, most: int) -> list[str]:
        active = [flow for flow in self._flows.values() if not flow.is_over]
        return live_lines(active, self._clock(), width, most, colored=self._console.err_in_colour)

    def _flowed(self, event: ChannelLaid | EpochFed | EpochEnded) -> None:
        epoch = None if isinstance(event, ChannelLaid) else event.epoch
        key = event.host, event.channel
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = ChannelProgress(event.host, event.channel, epoch)
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

    def _downloaded(self, event: PackagesDownloaded) -> None:
        flow = self._flows.setdefault(("", _PACKAGES), ChannelProgress("", _PACKAGES, None))
        flow.size, flow.total, flow.is_over = event.size, event.total, event.size >= event.total
        flow.moved(self._clock())
        self._changed = True

    def _forget(self, host: str) -> None:
        for key in [key for key in self._flows if key[0] == host]:
            del self._flows[key]
        self._changed = True


class ChannelProgress:
    """The progress of one channel of one host. ``marks`` are recent (time, bytes over all epochs)."""

    def __init__(self, host: str, channel: str, epoch: int | None) -> None:
        self.host = host
        self.channel = channel
        self.epoch = epoch
        self.size = self.before = 0
        self.total: int | None = None
        self.is_over = False
        self.marks: list[tuple[float, int]] = []

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


def live_lines(
    flows: Sequence[ChannelProgress], now: float, width: int | None, most: int, *, colored: bool = False
) -> list[str]:
    """Return a line per flow; one per channel if those are more than ``most``. ``width`` None: no limit."""
    flows = sorted(flows, key=lambda flow: (len(flow.host), flow.host, flow.channel))
    groups = [[flow] for flow in flows]
    if len(groups) > most:
        channels: dict[str, list[ChannelProgress]] = {}
        for flow in flows:
            channels.setdefault(flow.channel, []).append(flow)
        groups = list(channels.values())
    lines = _aligned([(group, _share(group)) for group in groups[:most]], now, width, colored)
    if len(groups) > most:
        lines.append(f"… and {len(groups) - most} more channels"[:width])
    return lines


def _aligned(
    rows: Sequence[tuple[Sequence[ChannelProgress], float | None]], now: float, width: int | None, colored: bool
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


def _share(flows: Sequence[ChannelProgress]) -> float | None:
    """Return the progress of the epoch, 0 to 1; None if its size is unknown."""
    totals = [flow.total for flow in flows if flow.total]
    return min(1.0, sum(flow.size for flow in flows) / sum(totals)) if len(totals) == len(flows) else None


def _what(flows: Sequence[ChannelProgress]) -> str:
    epochs = sorted({flow.epoch for flow in flows if flow.epoch is not None})
    return f"epoch {'-'.join(map(str, dict.fromkeys([epochs[0], epochs[-1]])))}" if epochs else "download"


def _speed(flows: Sequence[ChannelProgress], now: float) -> str:
    speeds = [speed for speed in (flow.speed(now) for flow in flows) if speed is not None]
    return f"{size(sum(speeds))}/s" if speeds else "-"


class InstallerLines:
    """What a person sees of an installer: with ``-v`` every line; else downloads, and its last lines if it fails.

    The index says the sizes: uv names all packages that are larger than 1 MiB before it waits for them, pip each at its
    turn.
    """

    def __init__(self, show: Callable[[str], None], request: RunRequest) -> None:
        self._show = show
        self._is_verbose = request.verbosity > 0
        self._downloaded = request.downloaded
        self._sizes: dict[str, int] = {}
        self._done: set[str] = set()
        self._unsaid: dict[str, str] = {}
        self._last: list[str] = []
        self._timer: threading.Timer | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._say_sizes()
            self._done.update(self._sizes)
            self._advance()

    def add(self, line: str) -> None:
        """Take the next line."""
        with self._turn:
            if self._is_verbose:
                self._show(f"installing | {line}")
            self._last.append(line)
            del self._last[:-_KEPT_LINES]
            begin = line[:_LONGEST_SEARCHED]
            begun, ended = re.fullmatch(_DOWNLOADING, begin), re.fullmatch(_DOWNLOADED, begin)
            if begun is None:
                # pip says nothing at the end of a download, but then goes on to the next package.
                self._done.update([ended[1]] if ended is not None else self._of_pip())
            elif not (begun["file"] or "").endswith(".metadata"):
                self._done.update(self._of_pip())
                self._begin(begun["name"], begun["file"] or "", float(begun["size"]) * _UNITS[begun["unit"]])
            self._advance()

    def fail(self) -> None:
        """Show the last lines, if they have not been shown."""
        with self._turn:
            for line in () if self._is_verbose else self._last:
                self._show(f"installing | {line}")

    def _begin(self, name: str, file: str, count: float) -> None:
        self._sizes[f"{name}{file}"] = int(count)
        self._unsaid[f"{name}{file}"] = name
        if self._timer is None:
            self._timer = threading.Timer(_SOON, self._say)
            self._timer.daemon = True
            self._timer.start()

    def _of_pip(self) -> list[str]:
        return [name for name in self._sizes if name.endswith((".whl", ".gz", ".zip"))]

    def _say(self) -> None:
        with self._turn:
            self._say_sizes()

    def _say_sizes(self) -> None:
        """Show what is being downloaded, the largest first."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        unsaid = sorted(self._unsaid.items(), key=lambda one: -self._sizes[one[0]])
        self._unsaid.clear()
        if unsaid and not self._is_verbose:
            shown = ", ".join(f"`{name}` {size(self._sizes[key])}" for key, name in unsaid[:_MOST_NAMED])
            more = f", and {len(unsaid) - _MOST_NAMED} more" if len(unsaid) > _MOST_NAMED else ""
            whole = f": {size(sum(self._sizes[key] for key, _ in unsaid))} together" if len(unsaid) > 1 else ""
            self._show(f"downloading {shown}{more}{whole}")

    def _advance(self) -> None:
        whole = sum(self._sizes.values())
        if whole:
            self._downloaded(sum(self._sizes[name] for name in self._done & self._sizes.keys()), whole)
