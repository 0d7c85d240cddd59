"""Ends waits on a stop, through the descriptor for signals (PEP 475)."""

import os
import signal
from contextlib import suppress
from functools import lru_cache
from typing import Callable, Set
from weakref import WeakMethod


class Wake:
    """A latch: `stop` makes it readable for good."""

    _reader = _writer = -1

    def __init__(self) -> None:
        self.stopping = False
        self._calls: Set["WeakMethod[Callable[[], None]]"] = set()
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
        if self._writer >= 0 and self._process == os.getpid():  # a fork shares the pipe, not the stop
            with suppress(BlockingIOError):  # full, so readable already
                os.write(self._writer, bytes([signal.SIGTERM]))
        for reference in tuple(self._calls):
            if method := reference():
                method()

    def heard(self) -> bool:
        """Check for signals: whether to stop."""
        if not self.stopping:
            try:
                signals = os.read(self._reader, 4096)
            except BlockingIOError:
                return False
            if signal.SIGTERM in signals:
                self.stop()
        return self.stopping

    def listen(self) -> None:
        """Have Python write signals here, in the main thread, unless asyncio does."""
        with suppress(ValueError):
            previous = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
            if previous not in (-1, self._writer):
                signal.set_wakeup_fd(previous, warn_on_full_buffer=False)

    def forget_parent(self) -> None:
        """Share no descriptor after a fork."""
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
    """The process's latch. It hears SIGTERM if the program handles it."""
    _latch().listen()
    return _latch()
