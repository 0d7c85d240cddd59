"""Defer signals for a moment: removing unfinished output must not be interrupted."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
