"""The record of a run: the source of its summary, its report, and its exit status.

Measurements of Pipe channels are read from the log, which programs that watch a job read too. A pipe of their own would
need code in the runtime, which has no room for it. What went through a channel over time is kept in bounded memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from smspec.local.record.flows import METRICS, Balance, Flow, Flows, Measured, measured
from smspec.local.running.events import (
    ChannelLaid,
    EpochEnded,
    EpochFed,
    Event,
    FaultInjected,
    HostEnded,
    LogLine,
    Remark,
)
from smspec.local.watch.host_log import LogTail

_MOST = 2048
_FIRST_INTERVAL = 0.05
_MOST_WARNINGS = 100


class Series:
    """Samples of (seconds since the start, bytes so far), thinned out evenly as a run grows longer."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, int]] = []
        self._interval = _FIRST_INTERVAL
        self._last: tuple[float, int] | None = None

    def add(self, moment: float, count: int) -> None:
        """Add that ``count`` bytes have passed in all; times are in order."""
        before, self._last = self._last, (moment, count)
        if self._samples and moment - self._samples[-1][0] < self._interval:
            return
        if before is not None and before != self._samples[-1]:
            self._samples.append(before)  # the start of a pause
        self._samples.append(self._last)
        if len(self._samples) > _MOST:
            self._samples = self._samples[::2]
            self._interval *= 2

    @property
    def samples(self) -> tuple[tuple[float, int], ...]:
        """Return the kept samples, always with the last one."""
        kept = tuple(self._samples)
        return kept if self._last is None or kept[-1] == self._last else (*kept, self._last)


class ThroughputRecord:
    """Bytes so far over all epochs, by host and channel, in bounded memory for each."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], Series] = {}
        self._epochs: dict[tuple[str, str], dict[int | None, int]] = {}
        self._totals: dict[tuple[str, str], int] = {}

    def add(self, host: str, channel: str, epoch: int | None, size: int, since: float) -> None:
        """Add that an epoch has reached ``size`` bytes, ``since`` seconds after the start of the run."""
        sizes = self._epochs.setdefault((host, channel), {})
        # Not added up again: a run may have many thousands of epochs.
        total = self._totals.get((host, channel), 0) + size - sizes.get(epoch, 0)
        self._totals[host, channel] = total
        sizes[epoch] = size
        self._series.setdefault((host, channel), Series()).add(max(0.0, since), total)

    @property
    def samples(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far)."""
        return {key: series.samples for key, series in self._series.items()}


class RunRecord:
    """Listens to a run and stores its events. ``hide`` masks secrets in a text."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, hide: Callable[[str], str] = str) -> None:
        self._clock = clock
        self.hide = hide
        self._start = clock()
        self._flows = Flows()
        self._throughput = ThroughputRecord()
        self._balances: dict[tuple[str, int], Balance] = {}
        self.hosts: dict[str, HostEnded] = {}
        self.injected: list[FaultInjected] = []
        self.logs: dict[str, LogTail] = {}
        self.warnings: list[str] = []

    def begin(self) -> float:
        """Start the time of the run now; return it."""
        self._start = self._clock()
        return self._start

    def tick(self) -> None:
        """Do nothing: a record draws nothing."""

    def report(self, event: Event) -> None:
        """Record an event."""
        if isinstance(event, HostEnded):
            self.hosts[event.host] = event
        elif isinstance(event, FaultInjected):
            self.injected.append(event)
        elif isinstance(event, LogLine):
            self._logged(event)
        elif isinstance(event, Remark):
            if event.warning and len(self.warnings) < _MOST_WARNINGS:
                self.warnings.append(self.hide(event.text))
        elif isinstance(event, ChannelLaid):
            self._flows.add(event)
            self._throughput.add(event.host, event.channel, None, event.size, self._clock() - self._start)
        elif isinstance(event, EpochFed | EpochEnded):
            self._flows.add(event)
            self._throughput.add(event.host, event.channel, event.epoch, event.size, event.moment - self._start)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Return the flows by host, channel, and epoch."""
        return self._flows.in_order(self.injected)

    @property
    def series(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far over all epochs)."""
        return self._throughput.samples

    @property
    def balances(self) -> tuple[Balance, ...]:
        """Return one per host and epoch."""
        return tuple(self._balances[key] for key in sorted(self._balances, key=lambda key: (len(key[0]), *key)))

    def _logged(self, event: LogLine) -> None:
        if not event.text.startswith(METRICS):
            self.logs.setdefault(event.host, LogTail(self.hide)).add(event.text)
            return
        found = measured(event.text)
        if found is not None:
            self._flows.read(event.host, found)
            self._balances[event.host, found.epoch] = _balance(event.host, found)  # the same for each channel


def _balance(host: str, found: Measured) -> Balance:
    return Balance(host=host, first=found.epoch, last=found.epoch, waiting=found.waiting, computing=found.computing)
