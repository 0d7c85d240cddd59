"""One FIFO, opened and read without ever getting stuck; a regular file is read as one epoch."""

import fcntl
import os
import select
import stat
import sys
import time
from contextlib import suppress
from functools import lru_cache
from typing import Callable, Dict, List, NamedTuple, Optional
from weakref import WeakSet

from .errors import InUse, Origin, PipeError, TimedOut
from .stats import Stats
from .wake import Wake

PIPE_SIZE = 1 << 20
"""What an unprivileged process may have (/proc/sys/fs/pipe-max-size). Default is 64 KiB, three times slower."""

F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 1031)  # named since Python 3.10
F_GETPIPE_SZ = getattr(fcntl, "F_GETPIPE_SZ", 1032)

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
LOOK_UP = 1.0
"""Seconds after which a wait looks whether to stop, in case the signal was heard by somebody else."""

TELL = 60.0
"""Seconds after which a wait says on stderr that it is still waiting."""

LISTEN_EVERY = 16
"""Reads in a row without a wait, after which signals are looked at all the same."""

CUT = ("stopped", "closed")
"""The ends that are not the writer's."""


class Timeouts(NamedTuple):
    """Seconds that a wait may last: for the FIFO to exist, for its first byte, for the next byte."""

    exists: float = 600.0
    first_byte: float = 600.0
    idle: float = 3600.0


class Fifo:
    """The bytes of one epoch, opened by the first read. One thread reads; others end it by a wake that it watches.

    ``end`` is None while there may be more; then "eof", "stopped" (the job is to stop) or "closed" (by the reader).
    """

    def __init__(self, origin: Origin, stats: Stats, wake: Wake, timeouts: Timeouts) -> None:
        self.origin = origin
        self.stats = stats
        self.end: Optional[str] = None
        self._wake = wake
        self._wakes: List[Wake] = []
        self._timeouts = timeouts
        self._descriptor = -1
        self._poll = select.poll()
        self.watch(wake)

    def watch(self, wake: Wake) -> None:
        """End when this latch closes, too."""
        self._wakes.append(wake)
        self._poll.register(wake.fileno(), select.POLLIN)

    def readinto(self, view: memoryview) -> int:
        """Read at least one byte, waiting for it if need be; 0 at the end."""
        stats = self.stats
        if not stats.reads % LISTEN_EVERY:
            self._wake.heard()
            if not stats.reads and self._descriptor < 0 and self.end is None:
                self._open()
        while not self.halted() and self.end is None:
            try:
                count = os.readv(self._descriptor, (view,))
            except BlockingIOError:
                what = "FIFO is open, its writer connected, no further byte has come"
                stats.idle += self._wait(what, self._timeouts.idle, self._is_in)
                continue
            stats.reads += 1
            stats.bytes += count
            if not count:
                self._finish("eof")
            return count
        return 0

    def halted(self) -> bool:
        """Whether the data is cut here: stopped or closed."""
        for wake in self._wakes:
            if wake.stopping:
                self._finish("stopped" if self._wake.stopping else "closed")
        return self.end in CUT

    def close(self) -> None:
        """End the epoch here. The writer, if there is more, is told so at once: EPIPE."""
        self._finish("closed")

    def _open(self) -> None:
        """Wait for the FIFO, and for its first byte or its end. Raises TimedOut, InUse, OSError."""
        path = self.origin.path
        missing = f"`{path}` does not exist"
        self.stats.wait_exists = self._wait(missing, self._timeouts.exists, self._appears, FIRST_PAUSE)
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
        except BlockingIOError:  # each of two readers would get a part of every record
            self.close()
            raise InUse(self.origin, 0, f"another reader has `{path}` open; a FIFO is for one process") from None
        except OSError:
            pass  # a file system without locks
        self.stats.pipe_size = enlarge(self._descriptor)
        # A FIFO without a writer reads as ended, so the first byte is awaited with poll: nothing is reported before a
        # writer comes, POLLHUP without data when one came and wrote nothing.
        self._poll.register(self._descriptor, select.POLLIN)
        waiting = "FIFO is open, no byte has come"
        self.stats.wait_first_byte = self._wait(waiting, self._timeouts.first_byte, self._is_in)

    def _appears(self, _: object) -> bool:
        with suppress(FileNotFoundError):
            self._descriptor = os.open(self.origin.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            _open_fifos().add(self)
        return self._descriptor >= 0

    def _is_in(self, ready: Dict[int, int]) -> bool:
        return self._descriptor in ready

    def _wait(self, what: str, limit: float, over: Callable[[Dict[int, int]], bool], pause: float = 0.0) -> float:
        """Poll until ``over``, asked at the start and after each pause, or a stop; return the seconds it took."""
        began = now = time.monotonic()
        tell = began + TELL
        ready: Dict[int, int] = {}
        while not any([over(ready), self._wake.heard(), self.halted()]):  # all are asked: a FIFO is opened in any case
            left = began + limit - now
            if left <= 0:
                raise TimedOut(self.origin, self.stats.bytes, f"{what} for {limit:g} s: gave up")
            if now >= tell:
                tell = now + TELL
                sys.stderr.write(f"smspec: {self.origin}, byte {self.stats.bytes}: {what} for {now - began:.0f} s\n")
                sys.stderr.flush()
            ready = dict(self._poll.poll(min(pause or LOOK_UP, left) * 1000))
            pause = min(pause * 2, LONGEST_PAUSE)
            now = time.monotonic()
        return now - began

    def _finish(self, end: str) -> None:
        if self.end is None:
            self.end = end
            self.stats.ended = time.monotonic()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()


def enlarge(descriptor: int) -> int:
    """Give a FIFO the largest capacity allowed, up to `PIPE_SIZE`; return what it has. Works from either end."""
    if not sys.platform.startswith("linux"):
        return 0
    current = fcntl.fcntl(descriptor, F_GETPIPE_SZ)
    size = PIPE_SIZE
    while size > current:
        try:
            return fcntl.fcntl(descriptor, F_SETPIPE_SZ, size)
        except OSError:  # EPERM: beyond what the user may have in all; EBUSY
            size //= 2
    return current


@lru_cache(maxsize=None)
def _open_fifos() -> "WeakSet[Fifo]":
    """A forked worker that held them open would keep the writer from learning that the reader has gone."""
    fifos: "WeakSet[Fifo]" = WeakSet()

    def close_all() -> None:
        for fifo in tuple(fifos):
            fifo.close()

    os.register_at_fork(after_in_child=close_all)
    return fifos
