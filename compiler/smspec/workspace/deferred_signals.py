"""Signals that end a command as Ctrl-C does, and are deferred while unfinished output is removed.

Blocking is not possible as soon as one arrives, because its exception passes through Python's own code; but an
exception can also be lost, so a later Ctrl-C must work.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals that ask a command to end: Ctrl-C, `kill`, a closed terminal, and Ctrl-\\."""

_REPEATED = 1.0
"""Seconds in which a further signal asks for the same as the one before it."""


class StopRequests:
    """Tells a new request to stop from a repeated one.

    The first signal raises an exception, and unfinished output is removed while it leaves the command. If every signal
    raised one, those that follow would end that cleanup before it has deferred them. They are not ignored for good:
    an exception may be lost, for example in a finalizer, and Ctrl-C must still end the command.
    """

    def __init__(self) -> None:
        self._raised_at = float("-inf")

    def is_new(self) -> bool:
        """Return whether this signal is to raise an exception."""
        now = time.monotonic()
        if now - self._raised_at < _REPEATED:
            return False
        self._raised_at = now
        return True

    def forget(self) -> None:
        """Forget the last signal: it was for an earlier command in this process."""
        self._raised_at = float("-inf")


STOP_REQUESTS = StopRequests()
"""Shared by the handlers of a command: one that is restored continues the one before it."""


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer what asks a command to end until the context does. Only for short work.

    A signal that arrived just before raises its exception while it is blocked: that, too, is deferred.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        finally:
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interrupted(KeyboardInterrupt):
    """A signal requests a stop; ``number`` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """In this context, each signal of `STOPPING` raises `Interrupted`, unless it is ignored, as with `nohup`.

    Signals that follow within a second do not: what the first one started is completed.
    """
    usual = dict.fromkeys(STOPPING, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
    replaced = {number: handler for number, handler in usual.items() if signal.getsignal(number) == handler}
    STOP_REQUESTS.forget()
    for number in replaced:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if STOP_REQUESTS.is_new():
        raise Interrupted(number)
