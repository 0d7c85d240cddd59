"""Keeps of a run what the page shows beyond the summary: throughput over time, measurements, the ends of logs."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, Event, LogLine
from smspec.local.progress import METRICS
from smspec.local.report.series import Series

LOG_LINES = 200
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What a host's program did during one epoch of a channel: seconds of waiting for data, and of computing."""

    host: str
    channel: str
    epoch: int
    waiting: float
    computing: float
    verdict: str

    @property
    def waiting_share(self) -> float:
        """Percent of the epoch."""
        whole = self.waiting + self.computing
        return 100 * self.waiting / whole if whole else 0.0


class LogTail:
    """The last lines of a host's log."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._count = 0

    def add(self, line: str) -> None:
        self._count += 1
        self._lines.append(line[:_LONGEST_LINE])

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    @property
    def left_out(self) -> int:
        """How many lines came before."""
        return self._count - len(self._lines)


class Listener:
    """Listens to a run and remembers, in bounded memory for each host and channel."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._series: dict[tuple[str, str], Series] = {}
        self._epochs: dict[tuple[str, str], dict[int | None, int]] = {}
        self._totals: dict[tuple[str, str], int] = {}
        self.balances: list[Balance] = []
        self.logs: dict[str, LogTail] = {}

    def tick(self) -> None:
        """Nothing is drawn here."""

    def report(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, LogLine):
            if event.text.startswith(METRICS):
                self._measured(event)
            else:
                self.logs.setdefault(event.host, LogTail()).add(event.text)
        elif isinstance(event, ChannelLaid):
            self._flowed(event.host, event.channel, None, event.size, self._clock())
        elif isinstance(event, EpochFed | EpochEnded):
            self._flowed(event.host, event.channel, event.epoch, event.size, event.moment)

    @property
    def series(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far over all epochs)."""
        return {key: series.samples for key, series in self._series.items()}

    def _flowed(self, host: str, channel: str, epoch: int | None, size: int, moment: float) -> None:
        sizes = self._epochs.setdefault((host, channel), {})
        # Not added up anew: a run may have many thousands of epochs.
        total = self._totals.get((host, channel), 0) + size - sizes.get(epoch, 0)
        self._totals[host, channel] = total
        sizes[epoch] = size
        since = max(0.0, moment - self._start)
        self._series.setdefault((host, channel), Series()).add(since, total)

    def _measured(self, event: LogLine) -> None:
        """Read a line of measurements. A program may write one that is none: it is left out."""
        try:
            told = json.loads(event.text)
            waiting, computing = float(told["waited"]), float(told["computed"])
            balance = Balance(
                host=event.host,
                channel=str(told["channel"]),
                epoch=int(told["epoch"]),
                waiting=max(0.0, waiting),
                computing=max(0.0, computing),
                verdict=str(told["verdict"]),
            )
        except (ValueError, KeyError, TypeError):
            return
        self.balances.append(balance)
