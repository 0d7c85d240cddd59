"""Time in which no signal interrupts: taking away what is unfinished must not itself stay unfinished."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Let signals that stop us wait. For what is short: they have their effect when this is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
