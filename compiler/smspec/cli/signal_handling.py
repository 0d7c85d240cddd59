"""SIGTERM, SIGHUP, and SIGQUIT end a command as Ctrl-C does: unfinished output is removed first.

A second signal could interrupt the cleanup. Blocking is not possible earlier, because the exception passes through
Python's own code; but an exception can also be lost, so a later Ctrl-C must work.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from smspec.workspace.deferred_signals import STOP_REQUESTS, STOPPING


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
