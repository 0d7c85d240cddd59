"""FIFOs: created, waited for, enlarged, and removed; never left behind."""

import errno
import fcntl
import os
import select
import stat
import struct
import sys
import termios
import threading
from typing import List, Optional

from .objects import ChannelDataError

CAPACITY = 1 << 20
"""Bytes a FIFO is enlarged to: the limit of Linux for an unprivileged process."""

_F_SETPIPE_SZ, _F_GETPIPE_SZ = 1031, 1032  # fcntl has them from Python 3.10 on
_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02


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
