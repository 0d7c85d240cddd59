"""FIFOs: made, waited on, enlarged and removed; never left behind."""

import errno
import fcntl
import os
import stat
import sys
import threading
from typing import List, Optional

from .fault import DataError

CAPACITY = 1 << 20
"""Bytes a FIFO is enlarged to: the most that an unprivileged process may ask Linux for."""

_F_SETPIPE_SZ, _F_GETPIPE_SZ = 1031, 1032  # fcntl names them from Python 3.10 on
_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02


class Fifos:
    """The FIFOs that one feeder has made in its directory."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._made: List[str] = []
        self._lock = threading.Lock()
        self._closed = False

    def make(self, name: str) -> None:
        """Make a FIFO, unless the feeder has stopped. One from an earlier feeder is replaced."""
        path = os.path.join(self.directory, name)
        with self._lock:
            if self._closed:
                return
            try:
                if stat.S_ISFIFO(os.lstat(path).st_mode):
                    os.unlink(path)
            except FileNotFoundError:
                pass
            os.mkfifo(path, 0o666)
            self._made.append(path)

    def remove(self, path: str) -> None:
        """Remove a FIFO; who has it open keeps it."""
        with self._lock:
            if path in self._made:
                self._made.remove(path)
                _unlink(path)

    def close(self) -> None:
        """Remove all FIFOs and make no more."""
        with self._lock:
            self._closed = True
            for path in self._made:
                _unlink(path)
            self._made.clear()


def open_for_reader(path: str, stop: threading.Event) -> Optional[int]:
    """Wait until somebody opens the FIFO to read, and open it to write; None when ``stop`` comes first.

    Never blocks in open(): that could not be given up. Linux answers ENXIO as long as there is no reader.
    """
    wait = _FIRST_WAIT
    while not stop.is_set():
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise DataError("somebody removed the FIFO `{}`".format(path)) from None
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            stop.wait(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
            continue
        os.set_blocking(descriptor, True)
        enlarge(descriptor)
        return descriptor
    return None


def enlarge(descriptor: int) -> None:
    """Give the FIFO as much room as we can get, up to `CAPACITY`; three times the speed of the default 64 KiB."""
    if not sys.platform.startswith("linux"):
        return
    size = CAPACITY
    try:
        while size > fcntl.fcntl(descriptor, _F_GETPIPE_SZ):
            try:
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, size)
            except OSError:
                # EPERM: the user's pages for pipes are used up. EBUSY: what is in it would not fit.
                size //= 2
    except OSError:
        pass


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
