"""The record of a run: the source of its summary, its report, and its exit status.

Measurements of Pipe channels are read from the log, which programs that watch a job read too. A pipe of their own would
need code in the runtime, which has no room for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from smspec.local.events import (
    ChannelLaid,
    EpochEnded,
    EpochFed,
    Event,
    FaultInjected,
    HostEnded,
    LogLine,
    Remark,
)
from smspec.local.flows import Flow, Flows
from smspec.local.log_tail import LogTail
from smspec.local.measurements import METRICS, Measured, measured
from smspec.local.report.balance import Balance
from smspec.local.throughput_record import ThroughputRecord

_MOST_WARNINGS = 100


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
