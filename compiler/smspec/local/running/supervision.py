"""Start the processes of a job, its hosts and their feeders, and supervise them until all have ended.

That means their logs, events of feeders, signals, time, and the first failure.
"""

from __future__ import annotations

import os
import selectors
import signal
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from smspec.local.channels.channel_data import ChannelData
from smspec.local.channels.feeder_process import FeederFault, FeederProcess
from smspec.local.engines.engine import Engine, RunningHost
from smspec.local.feeder.plan import FeederPlan, Injection
from smspec.local.running.events import HostEnded, HostsInterrupted, LogLines, Remark, Reporter
from smspec.local.running.request import (
    EventKind,
    Interruption,
    InterruptionClock,
    RunFailed,
    RunRequest,
    Signals,
    SurroundingFaults,
)
from smspec.local.running.run_directory import RunDirectory
from smspec.local.running.training_request import Host
from smspec.local.watch.file_watch import CheckpointWatch
from smspec.local.watch.host_log import LogText
from smspec.local.watch.memory_watch import MemoryWatch, ProcessKilling
from smspec.source.frozen import dataclass

_TURN_SECONDS = 0.1
_SECONDS_TO_DIE = 5.0
_GATHERING_SECONDS = 0.0005
_ENOUGH = 1 << 15
"""Bytes of lines in a turn. After fewer, a pause: a reader of each line would slow a job that prints line by line."""

_LOG_SECONDS = 1.0
"""How long a log is read after its host has ended, if a remaining process still has it open."""

_LONE_SECONDS = 30.0
"""How long hosts may run on after the log of one has ended, until a line names them."""

_START_SECONDS = 10.0
"""How long a host may take to write its first line. Before it listens to SIGTERM, the kernel discards the signal."""


def present_hosts(hosts: tuple[Host, ...], faults: SurroundingFaults | None) -> list[Host]:
    """Return the hosts that are started: all, unless one is absent on purpose."""
    return [host for host in hosts if faults is None or host.name != faults.absent]


class Fleet:
    """Starts processes and ends them. ``hosts`` and ``feeders`` are those that were started so far."""

    def __init__(self, directory: RunDirectory, reporter: Reporter) -> None:
        self.hosts: list[RunningHost] = []
        self.feeders: list[FeederProcess] = []
        self._directory = directory
        self._reporter = reporter
        self._fed: list[str] = []

    def start(
        self, hosts: tuple[Host, ...], data: tuple[ChannelData, ...], engine: Engine, request: RunRequest
    ) -> None:
        """Start the feeders, then the hosts, so that the first FIFO of each channel exists before a script starts."""
        present = present_hosts(hosts, request.faults)
        for host in present:
            piped = [each for each in data if each.is_piped and each.reaches(host, hosts)]
            if piped:
                place = self._directory.host(host.name)
                self._fed.append(os.path.realpath(place.data))
                plan = FeederPlan(
                    directory=os.path.abspath(place.data),
                    channels=[each.feeder_channel(host, hosts) for each in piped],
                    rate=request.rate,
                    injection=_injection(request.injection, host),
                )
                self.feeders.append(engine.feed(host, plan, self._directory))
        self.hosts += engine.start(present, self._directory)

    def end(self) -> None:
        """Kill the remaining hosts, stop the feeders, and report their last events."""
        for host in self.hosts:
            if not host.ended():
                host.kill()
        ends = time.monotonic() + _SECONDS_TO_DIE
        while time.monotonic() < ends and not all(host.ended() for host in self.hosts):
            time.sleep(_TURN_SECONDS)
        for feeder in self.feeders:
            for event in feeder.stop():
                self._reporter.report(event)
        for directory in self._fed:
            _remove_fifos(directory)


def _injection(injection: Injection | None, host: Host) -> Injection | None:
    return injection if injection is not None and injection.host in (None, host.name) else None


def _remove_fifos(directory: str) -> None:
    """Remove the FIFOs of a killed feeder. ``directory`` has no links, unless a script has created one."""
    if os.path.realpath(directory) != directory:
        return
    # A script may have removed or replaced the files, and the directory too.
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                if stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode):
                    os.unlink(entry.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why the job ended. ``failed`` names the first host that failed, in order of time.

    ``fault``: the data were invalid; ``is_ours``: or the feeder failed. ``signal``: smspec was stopped. ``overran``:
    MaxRuntimeInSeconds was reached. ``is_interrupted``: the hosts were ended on purpose.
    """

    failed: str | None = None
    job_status: int | None = None
    fault: str = ""
    is_ours: bool = False
    signal: int | None = None
    overran: bool = False
    is_interrupted: bool = False


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
        interruption: Interruption | None = None,
        watch: CheckpointWatch | None = None,
        killing: ProcessKilling | None = None,
        memory: MemoryWatch | None = None,
    ) -> None:
        self._hosts = hosts
        self._feeders = feeders
        self._reporter = reporter
        self._signals = signals
        self._grace = grace
        self._ends_at = time.monotonic() + max_runtime if max_runtime is not None else None
        self._interruption = interruption
        self._clock = InterruptionClock(interruption) if interruption is not None else None
        self._watch = watch
        self._killing = killing
        self._memory = memory
        self._kill_at: float | None = None
        self._started = time.monotonic()
        self._heard: set[str] = set()
        self._to_terminate: list[RunningHost] = []
        self._verdict: Verdict | None = None
        self._log_ends_at: dict[str, float] = {}
        self._has_named = False
        self._logged = 0
        self._selector = selectors.DefaultSelector()

    def run(self) -> Verdict:
        """Return when every host has ended and its log has been read."""
        with self._selector:
            self._selector.register(self._signals.descriptor, selectors.EVENT_READ, self._signals.drain)
            for feeder in self._feeders:
                self._selector.register(feeder.descriptor, selectors.EVENT_READ, self._listen_to(feeder))
            for host in self._hosts:
                for descriptor in host.descriptors:
                    self._selector.register(descriptor, selectors.EVENT_READ, self._log_of(host, descriptor))
            if self._watch is not None and self._watch.descriptor is not None:
                self._selector.register(self._watch.descriptor, selectors.EVENT_READ, self._look_at_checkpoints)
            self._happened("start")
            while not self._is_over():
                for key, _ in self._selector.select(self._turn_seconds()):
                    act: Callable[[], None] = key.data
                    act()
                self._look_at_checkpoints()
                self._interrupt_if_due()
                if self._killing is not None:
                    self._killing.turn()
                if self._memory is not None:
                    self._memory.turn()
                self._look_at_hosts()
                self._name_those_that_run_on()
                self._look_at_signals_and_time()
                self._terminate_started()
                self._reporter.tick()
                if 0 < self._logged < _ENOUGH:
                    time.sleep(_GATHERING_SECONDS)
                self._logged = 0
            self._look_at_checkpoints()
        return self._verdict or Verdict(job_status=0)

    def _is_over(self) -> bool:
        # A host that has ended since it was looked at may have failed.
        seen, open_logs = self._log_ends_at, self._selector.get_map()
        return all(host.host in seen and open_logs.keys().isdisjoint(host.descriptors) for host in self._hosts)

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

    def _log_of(self, host: RunningHost, descriptor: int) -> Callable[[], None]:
        def log() -> None:
            if descriptor not in self._selector.get_map():
                return  # closed in this turn
            texts = host.read(descriptor)
            if texts is None:
                self._selector.unregister(descriptor)
                if not self._has_open_log(host):
                    self._end_log(host)
                return
            self._heard.add(host.host)
            for text in texts:
                self._logged += len(text.data)
                self._report_lines(host.host, text)

        return log

    def _report_lines(self, host: str, text: LogText) -> None:
        if self._clock is None:
            self._reporter.report(LogLines(host=host, text=text))
            return
        for line in text.singly():
            self._reporter.report(LogLines(host=host, text=line))
            self._happened("line")

    def _look_at_checkpoints(self) -> None:
        if self._watch is not None:
            for change in self._watch.changes():
                self._reporter.report(change)
                if change.kind != "removed":
                    self._happened("checkpoint")

    def _happened(self, kind: EventKind) -> None:
        if self._clock is not None:
            self._clock.happened(kind, time.monotonic())
            self._interrupt_if_due()

    def _turn_seconds(self) -> float:
        left = None if self._clock is None else self._clock.seconds_left(time.monotonic())
        return _TURN_SECONDS if left is None or self._verdict is not None else max(0.0, min(_TURN_SECONDS, left))

    def _interrupt_if_due(self) -> None:
        """End the hosts as the requested interruption does, unless the job is over or ends anyway."""
        if self._clock is None or self._interruption is None or self._verdict is not None:
            return
        now = time.monotonic()
        left = self._clock.seconds_left(now)
        if left is None or left > 0 or all(host.ended() for host in self._hosts):
            return
        is_loss = self._interruption.is_loss
        self._reporter.report(HostsInterrupted(is_loss=is_loss, moment=now))
        self._stop(Verdict(is_interrupted=True), grace=0 if is_loss else self._interruption.grace)

    def _has_open_log(self, host: RunningHost) -> bool:
        return not self._selector.get_map().keys().isdisjoint(host.descriptors)

    def _close_log(self, host: RunningHost) -> None:
        """Stop reading a log that a remaining process still has open."""
        if self._has_open_log(host):
            for descriptor in {*host.descriptors} & {*self._selector.get_map()}:
                self._selector.unregister(descriptor)
            self._end_log(host)

    def _end_log(self, host: RunningHost) -> None:
        for text in host.close():
            self._reporter.report(LogLines(host=host.host, text=text))

    def _look_at_hosts(self) -> None:
        now = time.monotonic()
        for host in self._hosts:
            if not host.ended():
                continue
            if host.refusal and self._verdict is None:
                raise RunFailed(3, host.refusal)
            if host.loss:
                self._stop(Verdict(failed=host.host, fault=host.loss, is_ours=True))
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
                        total_memory=self._total_memory(host),
                    )
                )
                if status:
                    self._stop(Verdict(failed=host.host, job_status=status))
            if now >= self._log_ends_at[host.host]:
                self._close_log(host)

    def _name_those_that_run_on(self) -> None:
        """Say once that hosts run on long after one has ended well, such as workers that wait for a leader."""
        if self._has_named or self._verdict is not None or not self._log_ends_at:
            return
        ended, log_ends_at = next(iter(self._log_ends_at.items()))
        if time.monotonic() < log_ends_at + _LONE_SECONDS:
            return
        self._has_named = True
        left = [host.host for host in self._hosts if host.host not in self._log_ends_at]
        if left:
            verb = "runs" if len(left) == 1 else "run"
            text = (
                f"{ended} has ended well, but {', '.join(left)} still {verb}: SageMaker bills all hosts to the last end"
            )
            self._reporter.report(Remark(text=text))

    def _total_memory(self, host: RunningHost) -> int | None:
        if self._memory is not None:
            return self._memory.peaks.get(host.host)
        return None if host.usage is None else host.usage.total_memory

    def _look_at_signals_and_time(self) -> None:
        now = time.monotonic()
        received = self._signals.received
        if received:
            self._stop(Verdict(signal=received[0]), "stopping; press Ctrl-C again to kill")
            if self._verdict is not None and self._verdict.is_interrupted:
                self._kill_at = now  # what the script would still save is not used
        if self._ends_at is not None and now >= self._ends_at:
            self._stop(Verdict(overran=True), "MaxRuntimeInSeconds reached; stopping")
        if self._kill_at is not None and (now >= self._kill_at or len(received) > 1):
            self._kill()

    def _stop(self, verdict: Verdict, remark: str = "", grace: float | None = None) -> None:
        """Start to end the job, for the first reason; what is left after the grace is killed, at once if it is 0."""
        if self._verdict is not None:
            return
        self._verdict = verdict
        grace = self._grace if grace is None else grace
        self._kill_at = time.monotonic() + grace
        if remark:
            self._reporter.report(Remark(text=remark))
        if grace:
            self._to_terminate = list(self._hosts)
            self._terminate_started()
        else:
            self._kill()

    def _terminate_started(self) -> None:
        """Send SIGTERM to the hosts that listen to it, which are all that have written something."""
        is_late = time.monotonic() >= self._started + _START_SECONDS
        for host in tuple(self._to_terminate):
            if host.ended():
                self._to_terminate.remove(host)
            elif host.host in self._heard or is_late:
                self._to_terminate.remove(host)
                host.terminate()

    def _kill(self) -> None:
        for host in self._hosts:
            if not host.ended():
                host.kill()


def name_of(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
