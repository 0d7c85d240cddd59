"""One FIFO, read without blocking forever, and layers on top."""

import fcntl
import os
import select
import stat
import sys
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, Dict, List, Optional, Tuple, Union
from weakref import WeakSet

from ..log import log
from .errors import InUse, Origin, PipeError, TimedOut
from .stats import Stats
from .stop_waits import Wake

PIPE_SIZE = 1 << 20
"""The unprivileged limit. The default, 64 KiB, is three times slower."""

SIDE_SIZE = 512 << 10  # moved at once to our own pipe: copying locks a pipe for its writer
F_SETPIPE_SZ, F_GETPIPE_SZ = 1031, 1032  # in fcntl from Python 3.10 on

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
LOOK_UP = 1.0  # seconds between checks for signals
TELL = 60.0  # seconds until a wait is logged
LISTEN_EVERY = 16  # reads between checks for signals
CUT = ("stopped", "closed")  # ends that are not the writer's


class Fifo:
    """Opened by the first read. One thread reads; others end it by a wake."""

    end: Optional[str] = None
    _descriptor = -1
    _side: Tuple[int, ...] = ()
    _moves = False
    _aside = 0

    def __init__(self, origin: Origin, stats: Stats, wake: Wake, open_timeout: float, idle_timeout: float) -> None:
        self.origin, self.stats, self.wake = origin, stats, wake
        self._wakes: List[Wake] = []
        self._open_timeout, self._idle_timeout = open_timeout, idle_timeout
        self._poll = select.poll()
        self.watch(wake)

    def watch(self, wake: Wake) -> None:
        """End when this latch closes."""
        self._wakes.append(wake)
        self._poll.register(wake.fileno(), select.POLLIN)

    def readinto(self, view: memoryview) -> int:
        """Wait for at least one byte; 0 at the end."""
        stats = self.stats
        if not stats.reads % LISTEN_EVERY:  # before the first, too
            self.wake.heard()
            if self._descriptor < 0 and not self.end:
                self._open()
        while not self.halted() and not self.end:
            try:
                if self._moves and not self._aside:
                    self._aside = os.splice(self._descriptor, self._side[1], SIDE_SIZE)
                count = os.readv(self._side[0] if self._aside else self._descriptor, (view,))
                self._aside -= min(count, self._aside)
            except BlockingIOError:
                stats.idle += self._wait("FIFO is open, its writer connected, no further byte came", self._idle_timeout)
                continue
            except OSError:
                if self._aside or not self._moves:
                    raise
                self._moves = False  # a sandbox rejects it
                continue
            stats.reads += 1
            stats.bytes += count
            if not count:
                self._finish("eof")
            return count
        return 0

    def halted(self) -> bool:
        """Whether data is cut here."""
        for wake in self._wakes:
            if wake.stopping:
                self._finish("stopped" if self.wake.stopping else "closed")
        return self.end in CUT

    def close(self) -> None:
        """A writer that goes on gets EPIPE."""
        self._finish("closed")

    def _open(self) -> None:
        path = self.origin.path
        self.stats.wait_exists = self._wait(f"`{path}` does not exist", self._open_timeout, FIRST_PAUSE)
        if self.halted():
            return
        self.stats.opened = time.monotonic()
        kind = os.fstat(self._descriptor).st_mode
        if stat.S_ISDIR(kind):
            self.close()
            raise PipeError(self.origin, 0, f"`{path}` is a directory, not a FIFO")
        if not stat.S_ISFIFO(kind):
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # two readers would each get parts of records
            self.close()
            raise InUse(self.origin, 0, f"another reader has `{path}` open; a FIFO is for one process") from None
        except OSError:
            pass  # a file system without locks
        self.stats.pipe_size = enlarge(self._descriptor)
        if hasattr(os, "splice"):  # from Python 3.10 on
            with suppress(OSError):  # too many are open
                self._side = os.pipe()
                self._moves = enlarge(self._side[0], SIDE_SIZE) == SIDE_SIZE  # less is slower than none
        # without a writer a FIFO reads as ended, but poll reports nothing
        self._poll.register(self._descriptor, select.POLLIN)
        self.stats.wait_first_byte = self._wait("FIFO is open, no byte has come", self._open_timeout)

    def _appears(self) -> bool:
        with suppress(FileNotFoundError):
            self._descriptor = os.open(self.origin.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            _open_fifos().add(self)
        return self._descriptor >= 0

    def _wait(self, what: str, limit: float, pause: float = 0.0) -> float:
        """Look for the FIFO every ``pause``, or poll. Return the seconds."""
        began = now = time.monotonic()
        tell = began + TELL
        ready: Dict[int, int] = {}
        while True:
            over = self._appears() if pause else self._descriptor in ready
            if self.wake.heard() or self.halted() or over:
                return now - began
            left = began + limit - now
            if left <= 0:
                raise TimedOut(self.origin, self.stats.bytes, f"{what} for {limit:g} s: gave up")
            if now >= tell:
                tell = now + TELL
                log(f"{self.origin}, byte {self.stats.bytes}: {what} for {now - began:.0f} s")
            ready = dict(self._poll.poll(min(pause or LOOK_UP, left) * 1000))
            pause = min(pause * 2, LONGEST_PAUSE)
            now = time.monotonic()

    def _finish(self, end: str) -> None:
        if not self.end:
            self.end = end
            self.stats.ended = time.monotonic()
        if self._descriptor >= 0:
            for descriptor in (self._descriptor, *self._side):
                os.close(descriptor)
            self._descriptor, self._side = -1, ()

    __del__ = close


class Layer:
    """The source below does the rest."""

    def __init__(self, below: "Source") -> None:
        self.below = below

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


Source = Union[Fifo, Layer]


def enlarge(descriptor: int, size: int = PIPE_SIZE) -> int:
    """To ``size`` if allowed; return the size."""
    if sys.platform != "linux":
        return 0
    current = fcntl.fcntl(descriptor, F_GETPIPE_SZ)
    while size > current:
        try:
            return fcntl.fcntl(descriptor, F_SETPIPE_SZ, size)
        except OSError:  # EPERM: more than the user may have
            size //= 2
    return current


@lru_cache(maxsize=None)
def _open_fifos() -> "WeakSet[Fifo]":
    """Closed in a fork, which would hide a gone reader from the writer."""
    fifos: "WeakSet[Fifo]" = WeakSet()

    def close_all() -> None:
        for fifo in tuple(fifos):
            fifo.close()

    os.register_at_fork(after_in_child=close_all)
    return fifos
