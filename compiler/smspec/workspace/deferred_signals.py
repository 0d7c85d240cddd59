"""Defer signals for a moment: removing unfinished output must not be interrupted."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer SIGINT, SIGTERM, and SIGHUP until the context ends. Only for short work.

    A signal that arrived just before raises its exception while it is blocked: that, too, is deferred.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        finally:
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
