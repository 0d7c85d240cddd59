"""Starts programs, forwards signals at once, reaps what ends."""

import os
import select
import signal
import time
from types import FrameType

from ..command import Companion
from ..early_signals import STOPS
from ..lean_typing import Dict, Environ, Mapping, Optional, Sequence
from ..outcome import Outcome, count_oom_kills, status_of
from ..relay import Relay
from .child import Task, is_in_foreground, spawn
from .signals import Signals
from .tree import adopt_orphans, reap, signal_group, signal_strays

GRACE = 110.0  # Seconds from SIGTERM to SIGKILL: StopTrainingJob's 120 less ten to report.
LINGER = 1.0  # Seconds for what outlives the program.
LINGER_OF_PROGRAM = 10.0  # Seconds for the program when a companion has failed.
KEPT_ERRORS = 64 << 10
KEPT_CAPTURE = 1 << 20

_NEVER = float("inf")
_INTERVAL = 0.25
_INTERVAL_OF_LEFTOVERS = 0.02


class Stopped(BaseException):
    """A signal before the program was started."""


class Supervisor:
    """Runs one program at a time, with its companions."""

    def __init__(self, grace: float = GRACE) -> None:
        self._grace = grace
        self._signals = Signals()
        self._group = 0
        self._stopped_at = _NEVER
        self._stop = 0
        self._preparing = True
        self._companions: Dict[int, Companion] = {}
        self._failure: Optional[Outcome] = None  # of the first failed companion

    def start(self) -> None:
        """From now on forward a signal, or raise Stopped."""
        # Else a pipe gets the number of a closed standard stream.
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)
        self._signals.take_over(self._on_signal)
        adopt_orphans()

    def finish(self) -> None:
        self._preparing = False
        self._end_companions()

    def accompany(self, companion: Companion, environ: Environ, directory: str) -> Optional[Outcome]:
        """Start what ends with `run`. Return why it did not start."""
        return self._start(Task(companion.words, {**environ, **companion.variables}, directory), companion)

    def run(self, words: Sequence[str], environ: Environ, directory: str) -> Outcome:
        """As `prepare`, for the job's program; only it gets signals."""
        self._signals.hold()
        self._preparing = False
        return self.prepare(words, environ, directory)

    def prepare(self, words: Sequence[str], environ: Environ, directory: str) -> Outcome:
        """Run a program to its end, relay standard error. Raises Stopped on a signal for the job."""
        read_end, write_end = os.pipe()
        before = count_oom_kills()
        outcome = self._run(Task(words, environ, directory, stderr=write_end), Relay(read_end, 2, KEPT_ERRORS))
        after = count_oom_kills()
        return outcome if before is None or after is None else outcome._replace(oom_kills=after - before)

    def capture(self, words: Sequence[str], environ: Environ, seconds: float) -> Outcome:
        """As `prepare`, for its standard output, with a time limit."""
        read_end, write_end = os.pipe()
        task = Task(words, environ, "/", write_end, os.open(os.devnull, os.O_WRONLY))
        return self._run(task, Relay(read_end, -1, KEPT_CAPTURE), time.monotonic() + seconds)

    def _run(self, task: Task, relay: Relay, limit: float = _NEVER) -> Outcome:
        foreground = is_in_foreground()
        try:
            outcome = self._start(task._replace(foreground=foreground)) or self._watch(relay, limit)
        finally:
            self._group = 0
            relay.close()
            if foreground:
                os.tcsetpgrp(0, os.getpgrp())
        if self._preparing and self._stop:
            raise Stopped(self._stop)
        return outcome

    def _start(self, task: Task, companion: Optional[Companion] = None) -> Optional[Outcome]:
        self._signals.hold()
        try:
            started = spawn(task, self._signals)
            if isinstance(started, Outcome):
                return started
            if companion:
                self._companions[started] = companion
            else:
                self._group = started
            return None
        finally:
            task.close()
            self._signals.release()

    def _watch(self, relay: Relay, limit: float) -> Outcome:
        """Until the program and all that it started are gone."""
        child = self._group
        status = None
        ended, killed = 0.0, False
        while True:
            has_children, gone = reap()
            now = time.monotonic()
            leftovers = has_children or signal_group(child, 0)
            if child in gone:
                status, ended = gone[child], now
                self._end_companions()
                if leftovers:
                    if self._stopped_at == _NEVER:
                        signal_group(child, signal.SIGTERM)
                    signal_strays(child, signal.SIGTERM)
            elif self._is_first_failure(gone):
                signal_group(child, signal.SIGTERM)
                limit = now + LINGER_OF_PROGRAM
            if status is not None and not leftovers and (relay.is_finished or now >= ended + LINGER):
                break
            # The children of a shell that SIGTERM ended get the rest of the grace.
            deadline = self._stopped_at + self._grace
            if status is None:
                deadline = min(deadline, limit)
            elif deadline == _NEVER or os.WTERMSIG(status) != signal.SIGTERM:
                deadline = ended + LINGER
            wait = _INTERVAL if status is None else _INTERVAL_OF_LEFTOVERS
            if now < deadline:
                wait = min(wait, deadline - now)
            elif status is not None and now >= deadline + LINGER:
                break  # An uninterruptible wait, or another user's process.
            else:
                killed = killed or status is None
                signal_group(child, signal.SIGKILL)
                signal_strays(child, signal.SIGKILL)
            self._serve(relay, wait)
        for _ in range(100):  # What is in the pipe already.
            if relay.is_finished or not self._serve(relay, 0):
                break
        outcome = self._failure or Outcome(status_of(status), os.WTERMSIG(status))
        return outcome._replace(stopped=self._stopped_at < _NEVER, killed=killed, output=relay.kept)

    def _is_first_failure(self, ended: Mapping[int, int]) -> bool:
        for process in ended.keys() & self._companions.keys():
            companion = self._companions.pop(process)
            status = status_of(ended[process])
            if status and companion.is_essential and self._failure is None:
                words = " ".join(companion.words)
                error = f"`{words}`, which runs beside the program, ended with exit status {status}"
                self._failure = Outcome(status, error=error)
                return True
        return False

    def _end_companions(self) -> None:
        for process in self._companions:
            signal_group(process, signal.SIGTERM)
        self._companions = {}

    def _serve(self, relay: Relay, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._signals.wakeup, select.POLLIN)
        relay.register(poll)
        ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000)}
        served = bool(ready - {self._signals.wakeup})
        if self._signals.wakeup in ready:
            os.read(self._signals.wakeup, 4096)
        if served:
            relay.handle()
        for number in self._signals.collect():
            self._forward(number)
        return served

    def _on_signal(self, number: int, _: Optional[FrameType]) -> None:
        if self._group and number != signal.SIGCHLD:  # It only wakes the loop.
            self._forward(number)
        elif self._preparing and number in STOPS:
            self._preparing = False
            raise Stopped(number)

    def _forward(self, number: int) -> None:
        if number in STOPS:
            self._stop = self._stop or number
        if number == signal.SIGTERM:
            self._stopped_at = min(self._stopped_at, time.monotonic())
        signal_group(self._group, number)
