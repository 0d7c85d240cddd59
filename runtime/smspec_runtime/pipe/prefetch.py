"""Reads ahead in a thread, so that data comes in while the handler works. Memory is bounded by a ring of buffers."""

import os
import threading
import time
from queue import SimpleQueue
from typing import NamedTuple, Optional

from .errors import PipeError
from .fifo import CUT, Fifo
from .source import JOIN
from .wake import Wake

BUFFERS = 4
UNIT = 1 << 20
"""Most bytes of one read. Each return of a read needs the interpreter's lock, so few large ones overlap best."""


class Filled(NamedTuple):
    buffer: memoryview
    size: int


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
        self._buffer_size = max(size // BUFFERS, 1)
        self._empty: "SimpleQueue[Optional[memoryview]]" = SimpleQueue()
        self._filled: "SimpleQueue[Optional[Filled]]" = SimpleQueue()
        self._current: Optional[Filled] = None
        self._position = 0
        self._fault: Optional[Exception] = RuntimeError(f"the prefetch thread of {fifo.origin} has died")
        self._process = os.getpid()
        self._thread: Optional[threading.Thread] = None

    def readinto(self, view: memoryview) -> int:
        """Hand on what has been read, at least one byte. 0: see ``end``."""
        if self.halted() or self.end is not None or (self._current is None and not self._next_buffer()):
            return 0
        assert self._current is not None
        buffer, filled = self._current
        count = min(len(view), filled - self._position)
        view[:count] = buffer[self._position : self._position + count]
        self._position += count
        if self._position == filled:
            self._current = None
            self._empty.put(buffer)
        return count

    def halted(self) -> bool:
        if self.end is None and self._wake.stopping:
            self.end = "stopped"
        return self.end in CUT

    def watch(self, wake: Wake) -> None:
        self._fifo.watch(wake)

    def close(self) -> None:
        """End the epoch here, and the thread with it."""
        if self.end is None:
            self.end = "closed"
        self._cancel.stop()
        self._empty.put(None)
        if self._thread is None:
            self._fifo.close()
        else:
            self._thread.join(JOIN)

    def _next_buffer(self) -> bool:
        if self._thread is None:
            self._start()
        elif self._process != os.getpid():  # the thread stayed with the parent
            self.end = "closed"
            return False
        began = time.monotonic()
        self._current = self._filled.get()
        self._position = 0
        if self.stats.prefetch_starved is not None and self.stats.bytes > 0:
            self.stats.prefetch_starved += time.monotonic() - began
        if self._current is not None:
            return True
        if self._fault is not None:
            raise self._fault
        self.end = self.end or self._fifo.end
        return False

    def _start(self) -> None:
        for _ in range(BUFFERS):
            self._empty.put(memoryview(bytearray(self._buffer_size)))
        self._thread = threading.Thread(target=self._fill, name="smspec-prefetch", daemon=True)
        self._thread.start()

    def _fill(self) -> None:
        """Fill buffers until the end: what the thread does."""
        try:
            count = 1
            while count:
                began = time.monotonic()
                buffer = self._empty.get()
                self.stats.backpressure += time.monotonic() - began
                if buffer is None:
                    break
                count = self._fill_one(buffer)
                if count:
                    self._filled.put(Filled(buffer, count))
            self._fault = None
        except (PipeError, OSError) as error:
            self._fault = error
        finally:
            self._fifo.close()
            self._filled.put(None)

    def _fill_one(self, buffer: memoryview) -> int:
        """Wait for the first byte, then take what is there: a slow writer's bytes are not held back."""
        filled = self._fifo.readinto(buffer[:UNIT])
        while 0 < filled < len(buffer):
            count = self._fifo.read_now(buffer[filled : filled + UNIT])
            if not count:
                break
            filled += count
        return filled
