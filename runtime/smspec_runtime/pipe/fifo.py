"""One FIFO, opened and read without ever getting stuck; a regular file is read the same way, as one epoch."""

import fcntl
import os
import select
import stat
import sys
import time
import weakref
from typing import List, NamedTuple, Optional

from .errors import InUse, Origin, PipeError
from .stats import Stats
from .wait import Wait
from .wake import Wake

PIPE_SIZE = 1 << 20
"""What an unprivileged process may have (/proc/sys/fs/pipe-max-size). Default is 64 KiB, three times slower."""

F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 1031)  # Linux; named in the standard library since Python 3.10
F_GETPIPE_SZ = getattr(fcntl, "F_GETPIPE_SZ", 1032)
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
LISTEN_EVERY = 16
"""Reads in a row without a wait, after which signals are looked at all the same."""

CUT = ("stopped", "closed")
"""The ends that are not the writer's."""

_open_fifos: "weakref.WeakSet[Fifo]" = weakref.WeakSet()
_forks_are_watched = False


class Timeouts(NamedTuple):
    """Seconds that a wait may last: for the FIFO to exist, for its first byte, for the next byte."""

    exists: float = 600.0
    first_byte: float = 600.0
    idle: float = 3600.0


class Fifo:
    """The bytes of one epoch. It is opened by the first read.

    ``end`` is None while there may be more; then "eof", "stopped" (the job is to stop) or "closed" (by the reader).
    One thread reads. Another that wants it to end stops a wake that was given to `watch`.
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
        self._wakes.append(wake)
        self._poll.register(wake.fileno(), select.POLLIN)

    def open(self) -> bool:
        """Wait for the FIFO and for its first byte or its end. False: stop. Raises TimedOut, InUse, OSError."""
        if self.end is not None:
            return False
        if not self._open_when_it_exists():
            return self._halt()
        self.stats.opened = time.monotonic()
        kind = os.fstat(self._descriptor).st_mode
        if stat.S_ISDIR(kind):
            self.close()
            raise PipeError(self.origin, 0, f"`{self.origin.path}` is a directory, not a FIFO")
        if not stat.S_ISFIFO(kind):
            return True
        self._claim()
        self.stats.pipe_size = enlarge(self._descriptor)
        # A FIFO without a writer reads as ended, so the first byte is awaited with poll: nothing is reported before a
        # writer comes, POLLHUP without data when one came and wrote nothing.
        self._poll.register(self._descriptor, select.POLLIN)
        wait = self._wait("FIFO is open, no byte has come", self._timeouts.first_byte)
        ready = self._await_bytes(wait)
        self.stats.wait_first_byte = wait.seconds
        return ready

    def readinto(self, view: memoryview) -> int:
        if self._descriptor < 0 and not self.open():
            return 0
        while True:
            count = self.read_now(view)
            if count is not None:
                return count
            wait = self._wait("FIFO is open, its writer connected, no further byte has come", self._timeouts.idle)
            ready = self._await_bytes(wait)
            self.stats.idle += wait.seconds
            if not ready:
                return 0

    def read_now(self, view: memoryview) -> Optional[int]:
        """As `readinto` of an open FIFO, but None where that would wait."""
        if not self.stats.reads % LISTEN_EVERY:
            for wake in self._wakes:
                wake.heard()
        if self.halted() or self.end is not None:
            return 0
        try:
            count = os.readv(self._descriptor, (view,))
        except BlockingIOError:
            return None
        self.stats.reads += 1
        self.stats.bytes += count
        if not count:
            self._finish("eof")
        return count

    def halted(self) -> bool:
        for wake in self._wakes:
            if wake.stopping:
                self._halt()
        return self.end in CUT

    def close(self) -> None:
        """End the epoch here. The writer, if there is more, is told so at once: EPIPE."""
        self._finish("closed")

    def _open_when_it_exists(self) -> bool:
        wait = self._wait(f"`{self.origin.path}` does not exist", self._timeouts.exists)
        pause = FIRST_PAUSE
        while True:
            try:
                self._descriptor = os.open(self.origin.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                if not wait.pause(self._poll, pause):
                    return False
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                self.stats.wait_exists = wait.seconds
                _close_in_children(self)
                return not any(wake.heard() for wake in self._wakes)

    def _claim(self) -> None:
        """Refuse to be the second reader: each would get a part of every record."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            problem = f"another reader has `{self.origin.path}` open; a FIFO is for one process"
            raise InUse(self.origin, 0, problem) from None
        except OSError:
            pass  # a file system without locks

    def _wait(self, what: str, limit: float) -> Wait:
        return Wait(what, limit, self.origin, self.stats.bytes, self._wakes)

    def _await_bytes(self, wait: Wait) -> bool:
        while wait.pause(self._poll):
            if wait.found(self._descriptor):
                return True
        return self._halt()

    def _halt(self) -> bool:
        return self._finish("stopped" if self._wake.stopping else "closed")

    def _finish(self, end: str) -> bool:
        if self.end is None:
            self.end = end
            self.stats.ended = time.monotonic()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        return False

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


def _close_in_children(fifo: Fifo) -> None:
    """A forked worker that holds the FIFO open keeps the writer from learning that the reader has gone."""
    global _forks_are_watched
    if not _forks_are_watched:
        _forks_are_watched = True
        os.register_at_fork(after_in_child=_close_all)
    _open_fifos.add(fifo)


def _close_all() -> None:
    for fifo in tuple(_open_fifos):
        fifo.close()
