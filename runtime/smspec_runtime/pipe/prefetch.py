"""Reads ahead in a thread, so that data comes in while the handler works. Memory is bounded by a ring."""

import os
import threading
import time
from typing import Optional

from .errors import PipeError
from .fifo import CUT, Fifo
from .source import JOIN
from .wake import Wake

UNIT = 1 << 20
"""Most bytes of one read, and least room for one if the ring is large. Each return of a read needs the interpreter's
lock, so few large ones overlap best."""


class Prefetch:
    """A source like `Fifo`, fed by one. It may be closed from any thread."""

    def __init__(self, fifo: Fifo, size: int, wake: Wake) -> None:
        self.origin = fifo.origin
        self.stats = fifo.stats
        self.stats.prefetch_starved = 0.0
        self.end: Optional[str] = None
        self._fifo = fifo
        self._wake = wake
        self._cancel = Wake()
        fifo.watch(self._cancel)
        self._size = size
        self._ring = memoryview(b"")
        self._written = self._taken = 0
        self._done = False
        self._changed = threading.Condition()
        self._fault: Optional[Exception] = RuntimeError(f"the prefetch thread of {fifo.origin} has died")
        self._process = os.getpid()
        self._thread: Optional[threading.Thread] = None

    def readinto(self, view: memoryview) -> int:
        if self._process != os.getpid():  # the thread stayed with the parent
            self.end = "closed"
        if self.halted() or self.end is not None:
            return 0
        if self._taken == self._written:
            self._await_bytes()
        place = self._taken % self._size
        count = min(len(view), self._written - self._taken, self._size - place)
        if count:
            view[:count] = self._ring[place : place + count]
            with self._changed:
                self._taken += count
                self._changed.notify()
        elif self._fault is not None:
            raise self._fault
        else:
            self.end = self.end or self._fifo.end
        return count

    def halted(self) -> bool:
        if self.end is None and self._wake.stopping:
            self.end = "stopped"
        return self.end in CUT

    def watch(self, wake: Wake) -> None:
        self._fifo.watch(wake)

    def close(self) -> None:
        if self.end is None:
            self.end = "closed"
        self._cancel.stop()
        if self._thread is None or self._process != os.getpid():
            self._fifo.close()
        elif self._thread is not threading.current_thread():  # which may be collecting garbage
            with self._changed:
                self._changed.notify()
            self._thread.join(JOIN)

    def _await_bytes(self) -> None:
        if self._thread is None:
            self._ring = memoryview(bytearray(self._size))
            self._thread = threading.Thread(target=self._fill, name="smspec-prefetch", daemon=True)
            self._thread.start()
        began = time.monotonic()
        with self._changed:
            while self._taken == self._written and not self._done:
                self._changed.wait()
        if self.stats.prefetch_starved is not None and self._taken:
            self.stats.prefetch_starved += time.monotonic() - began

    def _fill(self) -> None:
        """What the thread does."""
        count = -1
        try:
            while count:
                free = self._room(min(UNIT, (self._size + 3) // 4))
                place = self._written % self._size
                count = self._fifo.readinto(self._ring[place : place + min(free, UNIT)])
                with self._changed:
                    self._written += count
                    self._changed.notify()
            self._fault = None
        except (PipeError, OSError) as fault:
            self._fault = fault
        finally:
            self._fifo.close()
            with self._changed:
                self._done = True
                self._changed.notify()

    def _room(self, least: int) -> int:
        """Wait until that many bytes are free, or it is all over; return how many are."""
        began = time.monotonic()
        with self._changed:
            while self._size - self._written + self._taken < least and not self._cancel.stopping:
                self._changed.wait()
        self.stats.backpressure += time.monotonic() - began
        return self._size - self._written + self._taken
