"""Supervise the hosts of a job until all have ended: logs, feeders, signals, time, and the first failure."""

from __future__ import annotations

import selectors
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from smspec.local.engines.engine import RunningHost
from smspec.local.events import HostEnded, LogLine, Remark, Reporter
from smspec.local.feeder_process import FeederFault, FeederProcess
from smspec.local.signals import Signals

_TURN_SECONDS = 0.1
_LOG_SECONDS = 1.0
"""How long a log is read after its host has ended, if a remaining process still has it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why the job ended. ``failed`` names the first host that failed, in order of time.

    ``fault``: the data were invalid; ``is_ours``: or the feeder failed. ``signal``: smspec was stopped. ``overran``:
    MaxRuntimeInSeconds was reached.
    """

    failed: str | None = None
    job_status: int | None = None
    fault: str = ""
    is_ours: bool = False
    signal: int | None = None
    overran: bool = False


class Supervision:
    """One job. When a host fails, the others are stopped, as SageMaker ends a job."""

    def __init__(
        self,
        hosts: Sequence[RunningHost],
        feeders: Sequence[FeederProcess],
        reporter: Reporter,
        signals: Signals,
        *,
        grace: float,
        max_runtime: float | None,
    ) -> None:
        self._hosts = hosts
        self._feeders = feeders
        self._reporter = reporter
        self._signals = signals
        self._grace = grace
        self._ends_at = time.monotonic() + max_runtime if max_runtime is not None else None
        self._kill_at: float | None = None
        self._verdict: Verdict | None = None
        self._log_ends_at: dict[str, float] = {}
        self._selector = selectors.DefaultSelector()

    def run(self) -> Verdict:
        """Return when every host has ended and its log has been read."""
        with self._selector:
            self._selector.register(self._signals.descriptor, selectors.EVENT_READ, self._signals.drain)
            for feeder in self._feeders:
                self._selector.register(feeder.descriptor, selectors.EVENT_READ, self._listen_to(feeder))
            for host in self._hosts:
                self._selector.register(host.descriptor, selectors.EVENT_READ, self._log_of(host))
            while not self._is_over():
                for key, _ in self._selector.select(_TURN_SECONDS):
                    act: Callable[[], None] = key.data
                    act()
                self._look_at_hosts()
                self._look_at_signals_and_time()
                self._reporter.tick()
        return self._verdict or Verdict(job_status=0)

    def _is_over(self) -> bool:
        return all(host.ended() and host.descriptor not in self._selector.get_map() for host in self._hosts)

    def _listen_to(self, feeder: FeederProcess) -> Callable[[], None]:
        def listen() -> None:
            try:
                for event in feeder.events():
                    self._reporter.report(event)
            except FeederFault as fault:
                self._selector.unregister(feeder.descriptor)
                self._stop(Verdict(failed=feeder.host, fault=str(fault), is_ours=fault.is_ours))
                return
            if feeder.is_killed:
                # On purpose: the job goes on, and has to detect it.
                self._selector.unregister(feeder.descriptor)

        return listen

    def _log_of(self, host: RunningHost) -> Callable[[], None]:
        def log() -> None:
            lines = host.lines()
            if lines is None:
                self._close_log(host)
                return
            for line in lines:
                self._reporter.report(LogLine(host=host.host, text=line))

        return log

    def _close_log(self, host: RunningHost) -> None:
        if host.descriptor in self._selector.get_map():
            self._selector.unregister(host.descriptor)
            for line in host.close():
                self._reporter.report(LogLine(host=host.host, text=line))

    def _look_at_hosts(self) -> None:
        now = time.monotonic()
        for host in self._hosts:
            if not host.ended():
                continue
            status = host.exit_status or 0
            if host.host not in self._log_ends_at:
                self._log_ends_at[host.host] = now + _LOG_SECONDS
                used = host.usage
                self._reporter.report(
                    HostEnded(
                        host=host.host,
                        exit_status=status,
                        seconds=host.seconds,
                        cpu_seconds=None if used is None else used.cpu_seconds,
                        peak_memory=None if used is None else used.peak_memory,
                    )
                )
                if status:
                    self._stop(Verdict(failed=host.host, job_status=status))
            if now >= self._log_ends_at[host.host]:
                self._close_log(host)

    def _look_at_signals_and_time(self) -> None:
        now = time.monotonic()
        received = self._signals.received
        if received:
            self._stop(Verdict(signal=received[0]), "stopping; press Ctrl-C again to kill")
        if self._ends_at is not None and now >= self._ends_at:
            self._stop(Verdict(overran=True), "MaxRuntimeInSeconds reached; stopping")
        if self._kill_at is not None and (now >= self._kill_at or len(received) > 1):
            for host in self._hosts:
                if not host.ended():
                    host.kill()

    def _stop(self, verdict: Verdict, remark: str = "") -> None:
        """Start to end the job, for the first reason."""
        if self._verdict is not None:
            return
        self._verdict = verdict
        self._kill_at = time.monotonic() + self._grace
        if remark:
            self._reporter.report(Remark(text=remark))
        for host in self._hosts:
            if not host.ended():
                host.terminate()


def name_of(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
