"""Reads ahead in a thread, into a ring."""

import os
import threading
import time
from typing import Optional

from .errors import PipeError
from .fifo import CUT, Fifo, Layer
from .stop_waits import Wake

JOIN = 10.0  # seconds for a thread's last read

UNIT = 1 << 20
"""Of one read at most, and room in a large ring at least: each needs the GIL."""


class Prefetch(Layer):
    """Any thread may close it."""

    end: Optional[str] = None
    _written = _taken = 0
    _done = False
    _thread: Optional[threading.Thread] = None

    def __init__(self, fifo: Fifo, size: int) -> None:
        super().__init__(fifo)
        self.stats.starving = "prefetch_starved"
        self._cancel = Wake()
        self.watch(self._cancel)
        self._size, self._ring = size, memoryview(b"")
        self._changed = threading.Condition()
        self._fault: Optional[Exception] = RuntimeError(f"the prefetch thread of {fifo.origin} has died")
        self._process = os.getpid()

    def readinto(self, view: memoryview) -> int:
        if self._process != os.getpid():  # the thread stayed with the parent
            self.end = "closed"
        if self.halted() or self.end:
            return 0
        if self._taken == self._written:
            self._await_bytes()
        place = self._taken % self._size
        count = min(len(view), self._written - self._taken, self._size - place)
        if count:
            view[:count] = self._ring[place : place + count]
            self._change(taken=count)
        elif self._fault:
            raise self._fault
        else:
            self.end = self.end or self.below.end
        return count

    def halted(self) -> bool:
        if not self.end and self.wake.stopping:
            self.end = "stopped"
        return self.end in CUT

    def close(self) -> None:
        self.end = self.end or "closed"
        self._cancel.stop()
        if self._thread is None or self._process != os.getpid():
            self.below.close()
        elif self._thread is not threading.current_thread():  # which may be collecting garbage
            self._change()
            self._thread.join(JOIN)

    def _change(self, taken: int = 0, written: int = 0, done: bool = False) -> None:
        with self._changed:
            self._taken += taken
            self._written += written
            self._done |= done
            self._changed.notify()

    def _await_bytes(self) -> None:
        if self._thread is None:
            self._ring = memoryview(bytearray(self._size))
            self._thread = threading.Thread(target=self._fill, name="smspec-prefetch", daemon=True)
            self._thread.start()
        began = time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: self._taken < self._written or self._done)
        if self._taken:
            self.stats.prefetch_starved += time.monotonic() - began

    def _fill(self) -> None:
        least = min(UNIT, (self._size + 3) // 4)
        count = -1
        try:
            while count:
                began = time.monotonic()
                with self._changed:
                    self._changed.wait_for(lambda: self._free() >= least or self._cancel.stopping)
                self.stats.backpressure += time.monotonic() - began
                place = self._written % self._size
                count = self.below.readinto(self._ring[place : place + min(self._free(), UNIT)])
                self._change(written=count)
            self._fault = None
        except (PipeError, OSError) as fault:
            self._fault = fault
        finally:
            self.below.close()
            self._change(done=True)

    def _free(self) -> int:
        return self._size - self._written + self._taken
