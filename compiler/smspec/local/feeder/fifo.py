"""FIFOs: created, waited for, enlarged, and removed, never left behind; and the writing end of one epoch.

Bytes and files are written to it counted, and at a limited rate.
"""

import errno
import fcntl
import os
import select
import stat
import struct
import sys
import termios
import threading
import time
from typing import Callable, List, Optional

from .objects import ChannelDataError
from .plan import Injector

CAPACITY = 1 << 20
"""Bytes a FIFO is enlarged to: the limit of Linux for an unprivileged process."""

_F_SETPIPE_SZ, _F_GETPIPE_SZ = 1031, 1032  # fcntl has them from Python 3.10 on
_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02
_BURST_SECONDS = 0.05
_CHUNK = 1 << 20
_COPY_CHUNK = 1 << 18
_PIECES = 512
"""Linux accepts 1024 (IOV_MAX); joining many small ones costs less than passing each separately."""


class Fifos:
    """The FIFOs that one feeder has created in its directory.

    A script may replace the directory or a FIFO by a link: neither must lead anywhere else. The directory is therefore
    opened once, and what is opened in it must be a FIFO.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._made: List[str] = []
        self._lock = threading.Lock()
        self._closed = False

    def make(self, name: str) -> None:
        """Create a FIFO, unless the feeder has stopped. One from an earlier feeder is replaced."""
        with self._lock:
            if self._closed:
                return
            try:
                if stat.S_ISFIFO(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=self._descriptor)
            except FileNotFoundError:
                pass
            if os.mkfifo in os.supports_dir_fd:
                os.mkfifo(name, 0o666, dir_fd=self._descriptor)
            else:
                os.mkfifo(os.path.join(self.directory, name), 0o666)
            self._made.append(name)

    def open_for_reader(self, name: str, stop: threading.Event) -> Optional[int]:
        """Wait until a process opens the FIFO for reading, and open it for writing; None if ``stop`` comes first.

        Never block in open(), which could not be canceled. Linux returns ENXIO as long as there is no reader.
        """
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        wait = _FIRST_WAIT
        while not stop.is_set():
            try:
                descriptor = os.open(name, flags, dir_fd=self._descriptor)
            except FileNotFoundError:
                raise ChannelDataError("the script removed the FIFO `{}`".format(name)) from None
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise _replaced(name) from None
                if error.errno != errno.ENXIO:
                    raise
                stop.wait(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
                continue
            if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise _replaced(name)
            os.set_blocking(descriptor, True)
            enlarge(descriptor)
            return descriptor
        return None

    def remove(self, name: str) -> None:
        """Remove a FIFO; a process that has it open keeps it."""
        with self._lock:
            if name in self._made:
                self._made.remove(name)
                self._unlink(name)

    def close(self) -> None:
        """Remove all FIFOs and create no more."""
        with self._lock:
            self._closed = True
            for name in self._made:
                self._unlink(name)
            self._made.clear()

    def _unlink(self, name: str) -> None:
        try:
            if stat.S_ISFIFO(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=self._descriptor)
        except OSError:
            pass


def unread(descriptor: int) -> int:
    """Return how many bytes are in a FIFO, -1 if its reader has closed it. ``descriptor``: its writing end."""
    poll = select.poll()
    poll.register(descriptor, 0)
    if poll.poll(0):
        return -1
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))[0]  # type: ignore[no-any-return]


def _replaced(name: str) -> ChannelDataError:
    return ChannelDataError("the script replaced the FIFO `{}` with a different file".format(name))


def enlarge(descriptor: int) -> None:
    """Enlarge the FIFO as far as possible, up to `CAPACITY`; three times the speed of the default 64 KiB."""
    if not sys.platform.startswith("linux"):
        return
    size = CAPACITY
    try:
        while size > fcntl.fcntl(descriptor, _F_GETPIPE_SZ):
            try:
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, size)
            except OSError:
                # EPERM: the user's limit of pages for pipes is reached. EBUSY: its content would not fit.
                size //= 2
    except OSError:
        pass


class Bucket:
    """Lets ``rate`` bytes per second pass, in bursts of a twentieth of a second."""

    def __init__(self, rate: int, sleep: Callable[[float], object]) -> None:
        self.chunk = max(1, int(rate * _BURST_SECONDS))
        self._rate = rate
        self._sleep = sleep
        self._free_at = time.monotonic()

    def took(self, size: int) -> None:
        """Wait for the time that the last ``size`` bytes, at most `chunk`, take at this rate."""
        now = time.monotonic()
        self._free_at = max(self._free_at, now - _BURST_SECONDS) + size / self._rate
        if self._free_at > now:
            self._sleep(self._free_at - now)


class Sink:
    """Writes all of its input, or raises BrokenPipeError if the reader has closed its end.

    ``sent`` counts the bytes that the FIFO accepted; another thread may read it at any time.
    """

    def __init__(self, descriptor: int, bucket: Optional[Bucket] = None) -> None:
        self.sent = 0
        self.injector: Optional[Injector] = None
        self._descriptor = descriptor
        self._bucket = bucket

    def write(self, data: bytes) -> None:
        """Write bytes that are in memory."""
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view[: self._allowed(len(view))])
            view = view[written:]
            self._sent(written)

    def write_all(self, pieces: List[bytes], size: int) -> None:
        """Write ``size`` bytes in pieces, at once where no limit or fault prevents it."""
        written = 0
        if len(pieces) <= _PIECES and self._allowed(size) == size:
            written = os.writev(self._descriptor, pieces)
            self._sent(written)
        if written < size:
            self.write(b"".join(pieces)[written:])

    def send(self, name: str, file: int, size: int) -> None:
        """Write the first ``size`` bytes of a file, without copying them through this process where that works."""
        offset = 0
        while offset < size:
            count = self._allowed(size - offset)
            try:
                sent = os.sendfile(self._descriptor, file, offset, count)
            except BrokenPipeError:
                raise
            except OSError:
                # Not every file system supports it, and except on Linux the target must be a socket.
                self._copy(name, file, offset, size)
                return
            if not sent:
                raise _shrunk(name)
            offset += sent
            self._sent(sent)

    def _copy(self, name: str, file: int, offset: int, size: int) -> None:
        while offset < size:
            data = os.pread(file, min(_COPY_CHUNK, size - offset), offset)
            if not data:
                raise _shrunk(name)
            self.write(data)
            offset += len(data)

    def _allowed(self, size: int) -> int:
        size = min(size, _CHUNK)
        if self.injector is not None:
            size = self.injector.allowed(self.sent, size)
        return min(size, self._bucket.chunk) if self._bucket is not None else size

    def _sent(self, size: int) -> None:
        self.sent += size
        if self._bucket is not None:
            self._bucket.took(size)


def _shrunk(name: str) -> ChannelDataError:
    return ChannelDataError("`{}` was truncated while smspec was reading it".format(name))
