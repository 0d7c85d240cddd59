"""Keeps of a run what the page shows beyond the summary: throughput over time, measurements, the ends of logs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, Event, LogLine
from smspec.local.measurements import METRICS, measured
from smspec.local.report.balance import Balance
from smspec.local.report.series import Series

LOG_LINES = 200
_LONGEST_LINE = 2000


class LogTail:
    """The last lines of a host's log. ``hide`` takes secrets out of a text."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._count = 0

    def add(self, line: str) -> None:
        self._count += 1
        # A secret is hidden before it may be cut.
        self._lines.append(self._hide(line)[:_LONGEST_LINE] if len(line) > _LONGEST_LINE else line)

    @property
    def text(self) -> str:
        return self._hide("\n".join(self._lines))

    @property
    def left_out(self) -> int:
        """How many lines came before."""
        return self._count - len(self._lines)


class Listener:
    """Listens to a run and remembers, in bounded memory for each host and channel."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, hide: Callable[[str], str] = str) -> None:
        self._clock = clock
        self.hide = hide
        self._start = clock()
        self._series: dict[tuple[str, str], Series] = {}
        self._epochs: dict[tuple[str, str], dict[int | None, int]] = {}
        self._totals: dict[tuple[str, str], int] = {}
        self._balances: dict[tuple[str, int], Balance] = {}
        self.logs: dict[str, LogTail] = {}

    def begin(self) -> float:
        """Let the time of the run begin now; return the moment."""
        self._start = self._clock()
        return self._start

    def tick(self) -> None:
        """Nothing is drawn here."""

    def report(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, LogLine):
            if event.text.startswith(METRICS):
                self._balanced(event)
            else:
                self.logs.setdefault(event.host, LogTail(self.hide)).add(event.text)
        elif isinstance(event, ChannelLaid):
            self._flowed(event.host, event.channel, None, event.size, self._clock())
        elif isinstance(event, EpochFed | EpochEnded):
            self._flowed(event.host, event.channel, event.epoch, event.size, event.moment)

    @property
    def series(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far over all epochs)."""
        return {key: series.samples for key, series in self._series.items()}

    @property
    def balances(self) -> tuple[Balance, ...]:
        """Return one per host and epoch."""
        return tuple(self._balances[key] for key in sorted(self._balances, key=lambda key: (len(key[0]), *key)))

    def _balanced(self, event: LogLine) -> None:
        found = measured(event.text)
        if found is not None:  # each channel of an epoch tells the same of it
            self._balances[event.host, found.epoch] = Balance(
                host=event.host,
                first=found.epoch,
                last=found.epoch,
                waiting=found.waiting,
                computing=found.computing,
            )

    def _flowed(self, host: str, channel: str, epoch: int | None, size: int, moment: float) -> None:
        sizes = self._epochs.setdefault((host, channel), {})
        # Not added up anew: a run may have many thousands of epochs.
        total = self._totals.get((host, channel), 0) + size - sizes.get(epoch, 0)
        self._totals[host, channel] = total
        sizes[epoch] = size
        since = max(0.0, moment - self._start)
        self._series.setdefault((host, channel), Series()).add(since, total)
