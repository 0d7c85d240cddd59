"""The writing end of one epoch: bytes and files into a FIFO, counted, at a limited rate."""

import os
from typing import BinaryIO, Optional

from .fault import DataError
from .rate import Bucket

_CHUNK = 1 << 20
_COPY_CHUNK = 1 << 18


class Sink:
    """Writes all of what it is given, or raises BrokenPipeError when the reader has closed its end.

    ``sent`` counts the bytes that the FIFO took; another thread may read it at any time.
    """

    def __init__(self, descriptor: int, bucket: Optional[Bucket] = None) -> None:
        self.sent = 0
        self._descriptor = descriptor
        self._bucket = bucket

    def write(self, data: bytes) -> None:
        """Write bytes that are in memory."""
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view[: self._allowed(min(len(view), _CHUNK))])
            self.sent += written
            view = view[written:]

    def send(self, file: BinaryIO, size: int) -> None:
        """Write the first ``size`` bytes of an open file, without taking them through this process where that works."""
        offset = 0
        while offset < size:
            count = self._allowed(min(size - offset, _CHUNK))
            try:
                sent = os.sendfile(self._descriptor, file.fileno(), offset, count)
            except BrokenPipeError:
                raise
            except OSError:
                # Not every file system can do it, and elsewhere than on Linux the target must be a socket.
                self._copy(file, offset, size)
                return
            if not sent:
                raise _shrunk(file)
            offset += sent
            self.sent += sent

    def _copy(self, file: BinaryIO, offset: int, size: int) -> None:
        file.seek(offset)
        while offset < size:
            data = file.read(min(_COPY_CHUNK, size - offset))
            if not data:
                raise _shrunk(file)
            self.write(data)
            offset += len(data)

    def _allowed(self, size: int) -> int:
        if self._bucket is not None:
            size = min(size, self._bucket.chunk)
            self._bucket.take(size)
        return size


def _shrunk(file: BinaryIO) -> DataError:
    return DataError("`{}` became shorter while it was fed".format(file.name))
