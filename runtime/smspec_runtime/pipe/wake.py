"""Ends every wait when the job is to stop.

Python repeats a call that a signal interrupted (PEP 475), but it also writes each signal into a descriptor, to poll.
"""

import os
import signal
from contextlib import suppress
from functools import lru_cache
from types import FrameType
from typing import Callable, Optional, Set
from weakref import WeakMethod


class Wake:
    """A latch: `stop` makes the descriptor readable, for good."""

    _reader = _writer = -1

    def __init__(self) -> None:
        self.stopping = False
        self._calls: Set["WeakMethod[Callable[[], None]]"] = set()
        self._previous: object = signal.SIG_DFL
        self._open()

    def _open(self) -> None:
        self._reader, self._writer = ends = os.pipe()
        for end in ends:
            os.set_blocking(end, False)
        self._process = os.getpid()

    def fileno(self) -> int:
        return self._reader

    def call(self, method: Callable[[], None]) -> None:
        """Call ``method`` on `stop`, while its object lives."""
        self._calls.add(WeakMethod(method, self._calls.discard))

    def stop(self) -> None:
        """Safe in a signal handler and a thread."""
        self.stopping = True
        if self._writer >= 0 and self._process == os.getpid():  # a fork shares the pipe, not the wish
            with suppress(BlockingIOError):  # full, so readable already
                os.write(self._writer, bytes([signal.SIGTERM]))
        for reference in tuple(self._calls):
            method = reference()
            if method is not None:
                method()

    def heard(self) -> bool:
        """Look at signals that came; say whether to stop."""
        if not self.stopping:
            try:
                signals = os.read(self._reader, 4096)
            except BlockingIOError:
                return False
            if signal.SIGTERM in signals:
                self.stop()
        return self.stopping

    def listen(self) -> None:
        """Have Python write signals here, if this is the main thread and nobody else (asyncio) has."""
        with suppress(ValueError):
            previous = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
            if previous not in (-1, self._writer):
                signal.set_wakeup_fd(previous, warn_on_full_buffer=False)

    def take_sigterm(self) -> None:
        """Stop on SIGTERM; then do what was done before."""
        self._previous = signal.signal(signal.SIGTERM, self._on_sigterm)

    def _on_sigterm(self, number: int, frame: Optional[FrameType]) -> None:
        self.stop()
        if callable(self._previous):
            self._previous(number, frame)

    def forget_parent(self) -> None:
        """After a fork: share no descriptor; SIGTERM ends the child, which a pool may terminate."""
        if signal.getsignal(signal.SIGTERM) == self._on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        self._close()
        self._open()

    def _close(self) -> None:
        descriptors = {self._reader, self._writer} - {-1}
        self._reader = self._writer = -1
        for descriptor in descriptors:
            os.close(descriptor)

    __del__ = _close


@lru_cache(maxsize=None)
def _latch() -> Wake:
    wake = Wake()
    os.register_at_fork(after_in_child=wake.forget_parent)
    return wake


def process_wake() -> Wake:
    """Return the process's latch, which hears SIGTERM if the program has a handler for it."""
    _latch().listen()
    return _latch()
