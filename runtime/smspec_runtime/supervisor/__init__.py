"""Starts programs, passes signals on to them, reaps whatever ends. No other package of the runtime does any of it.

A container's first process has two duties that no kernel default fulfils: a signal without a handler is dropped, and
orphans become its children. Signals are forwarded by the handlers themselves, so at once; one loop does the rest.
"""

import os
import select
import signal
import time
from types import FrameType

from ..command import Companion
from ..lean_typing import Mapping, Optional, Sequence
from ..oom_kills import count_oom_kills
from ..outcome import Outcome, status_of
from ..relay import Relay
from .child import Program, Streams, is_in_foreground, spawn
from .companions import Companions
from .signals import STOPS, Signals
from .tree import adopt_orphans, reap, signal_group, signal_strays

__all__ = ["GRACE", "LINGER", "Stopped", "Supervisor"]

GRACE = 110.0
"""Seconds from SIGTERM to SIGKILL. StopTrainingJob is `docker stop -t 120`: ten are left to report."""

LINGER = 1.0
"""Seconds that are left to what outlives the program: processes, and whoever holds its standard error."""

LINGER_OF_PROGRAM = 10.0
"""Seconds that are left to the program when a companion has failed."""

KEPT_ERRORS = 64 << 10
KEPT_CAPTURE = 1 << 20

_INTERVAL = 0.25
_INTERVAL_OF_LEFTOVERS = 0.02


class Stopped(BaseException):
    """A signal ended the job before its program was started. Derived so that no handler for errors swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Supervisor:
    """Runs one program at a time, in a process group of its own."""

    def __init__(self, grace: float = GRACE) -> None:
        self._grace = grace
        self._signals = Signals()
        self._group = 0
        self._stopped_at: Optional[float] = None
        self._stop = 0
        self._preparing = True
        self._companions = Companions()

    def start(self) -> None:
        """Take over: from here on a signal is forwarded, or ends the preparations by raising Stopped."""
        _open_standard_streams()
        self._signals.take_over(self._on_signal)
        adopt_orphans()

    def finish(self) -> None:
        """Ignore signals from here on: what is left to do is quick and must not be broken off."""
        self._preparing = False
        self._companions.end()

    def accompany(self, companion: Companion, environ: Mapping[str, str], directory: str) -> Optional[Outcome]:
        """Start what runs beside the program of the job, until `run` ends. Return why it could not be started."""
        foreground = is_in_foreground()
        mask = self._signals.hold()
        try:
            program = Program(companion.words, {**environ, **companion.variables}, directory)
            started = spawn(program, Streams(), self._signals)
            if isinstance(started, Outcome):
                return started
            self._companions.add(started, companion)
        finally:
            self._signals.release(mask)
            if foreground:
                os.tcsetpgrp(0, os.getpgrp())
        return None

    def run(self, words: Sequence[str], environ: Mapping[str, str], directory: str) -> Outcome:
        """Run the program of the job to its end. Standard output is inherited, standard error relayed."""
        self._preparing = False
        return self._relayed(Program(words, environ, directory))

    def prepare(self, words: Sequence[str], environ: Mapping[str, str], directory: str) -> Outcome:
        """Run a program that must be done before, as `run` does. Raises Stopped if a signal meant the job."""
        outcome = self._relayed(Program(words, environ, directory))
        self._raise_if_stopped()
        return outcome

    def capture(self, words: Sequence[str], environ: Mapping[str, str], seconds: float) -> Outcome:
        """Run a short program for its standard output. After ``seconds`` it is killed. Raises Stopped as `prepare`."""
        read_end, write_end = os.pipe()
        relay = Relay(read_end, sink=None, keep=KEPT_CAPTURE)
        streams = Streams(stdout=write_end, stderr=os.open(os.devnull, os.O_WRONLY))
        outcome = self._run(Program(words, environ, "/"), streams, relay, time.monotonic() + seconds)
        self._raise_if_stopped()
        return outcome

    def _relayed(self, program: Program) -> Outcome:
        read_end, write_end = os.pipe()
        relay = Relay(read_end, sink=2, keep=KEPT_ERRORS)
        before = count_oom_kills()
        outcome = self._run(program, Streams(stderr=write_end), relay, None)
        after = count_oom_kills()
        return outcome if before is None or after is None else outcome._replace(oom_kills=after - before)

    def _raise_if_stopped(self) -> None:
        if self._stop:
            raise Stopped(self._stop)

    def _run(self, program: Program, streams: Streams, relay: Relay, limit: Optional[float]) -> Outcome:
        foreground = is_in_foreground()
        mask = self._signals.hold()
        try:
            started = spawn(program, streams, self._signals)
            if isinstance(started, Outcome):
                return started
            self._group = started
        finally:
            self._signals.release(mask)
            streams.close()
        try:
            return self._watch(started, relay, limit)
        finally:
            self._group = 0
            relay.close()
            if foreground:
                os.tcsetpgrp(0, os.getpgrp())

    def _watch(self, child: int, relay: Relay, limit: Optional[float]) -> Outcome:
        """Serve signals and relay until the program and all that it started are gone."""
        status: Optional[int] = None
        ended = 0.0
        killed = False
        while True:
            has_children, gone = reap()
            now = time.monotonic()
            leftovers = has_children or signal_group(child, 0)
            if child in gone:
                status, ended = gone[child], now
                self._companions.end()
                if leftovers:
                    if self._stopped_at is None:
                        signal_group(child, signal.SIGTERM)
                    signal_strays(child, signal.SIGTERM)
            elif self._companions.take_in(gone):
                signal_group(child, signal.SIGTERM)
                limit = now + LINGER_OF_PROGRAM
            if status is not None and not leftovers and (relay.is_finished or now >= ended + LINGER):
                break
            deadline = self._deadline(status, ended, limit)
            if deadline is not None and now >= deadline:
                if status is not None and now >= deadline + LINGER:
                    break  # Nothing can be killed harder: an uninterruptible wait, or another user's process.
                killed = killed or status is None
                signal_group(child, signal.SIGKILL)
                signal_strays(child, signal.SIGKILL)
            wait = _INTERVAL if status is None else _INTERVAL_OF_LEFTOVERS
            if deadline is not None and deadline > now:
                wait = min(wait, deadline - now)
            self._serve(relay, wait)
        for _ in range(100):  # What lies in the pipe already; whoever still writes is not waited for.
            if relay.is_finished or not self._serve(relay, 0):
                break
        return self._outcome(status, killed, relay)

    def _deadline(self, status: Optional[int], ended: float, limit: Optional[float]) -> Optional[float]:
        """Return when what still runs is killed.

        A program that SIGTERM itself ended, a shell for instance, leaves its children the rest of the grace to save
        their work; one that ended by itself has had its say.
        """
        grace_ends = None if self._stopped_at is None else self._stopped_at + self._grace
        if status is None:
            return grace_ends if limit is None else limit
        if grace_ends is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM:
            return grace_ends
        return ended + LINGER

    def _outcome(self, status: int, killed: bool, relay: Relay) -> Outcome:
        failure = self._companions.failure
        if failure is not None:
            return failure._replace(stopped=self._stopped_at is not None, killed=killed, output=relay.kept)
        return Outcome(
            status=status_of(status),
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            stopped=self._stopped_at is not None,
            killed=killed,
            output=relay.kept,
        )

    def _serve(self, relay: Relay, seconds: float) -> bool:
        """Wait for a signal or for the relay, and serve it. Return whether the relay had something to do."""
        poll = select.poll()
        poll.register(self._signals.wakeup, select.POLLIN)
        relay.register(poll)
        served = False
        for descriptor, _ in poll.poll(seconds * 1000):
            if descriptor == self._signals.wakeup:
                os.read(descriptor, 4096)
            else:
                relay.handle(descriptor)
                served = True
        for number in self._signals.collect():
            self._forward(number)
        return served

    def _on_signal(self, number: int, _: Optional[FrameType]) -> None:
        if number == signal.SIGCHLD:
            return  # It has woken the loop; that is all.
        if self._group:
            self._forward(number)
        elif self._preparing and number in STOPS:
            self._preparing = False
            raise Stopped(number)

    def _forward(self, number: int) -> None:
        if number in STOPS:
            self._stop = self._stop or number
        if number == signal.SIGTERM and self._stopped_at is None:
            self._stopped_at = time.monotonic()
        signal_group(self._group, number)


def _open_standard_streams() -> None:
    """Open what is closed of the standard streams: else the next pipe would get its number."""
    while True:
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            return
        os.set_inheritable(descriptor, True)
