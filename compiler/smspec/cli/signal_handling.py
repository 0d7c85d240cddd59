"""SIGTERM and SIGHUP end a command as Ctrl-C does: unfinished output is removed first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """A signal requests a stop; ``number`` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """In this context, SIGTERM and SIGHUP raise `Interrupted`, unless they are ignored, as with `nohup`."""
    default = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in default:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in default:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)
