"""The writing end of one epoch: bytes and files into a FIFO, counted, at a limited rate."""

import os
import time
from typing import Callable, List, Optional

from .objects import ChannelDataError
from .plan import Injector

_BURST_SECONDS = 0.05
_CHUNK = 1 << 20
_COPY_CHUNK = 1 << 18
_PIECES = 512
"""Linux accepts 1024 (IOV_MAX); joining many small ones costs less than passing each separately."""


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
