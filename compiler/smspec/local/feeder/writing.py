"""Write the parts of an epoch to a FIFO, in the format of the channel."""

import mmap
import os
from typing import Iterator, List, Optional

from .fault import ChannelDataError, unreadable
from .gzip_members import decompressed
from .objects import Part, StoredObject
from .plan import FeederChannel
from .recordio import LONGEST, framed, header, padding, split
from .sink import Sink

_READ = 1 << 16
_BATCH = 1 << 18
_SMALL = 1 << 16
"""A file up to this size is read and written with its neighbors; the kernel sends a larger one."""

_SMALL_RECORD = 1 << 20
"""The same for a file that becomes a record: it has to be searched for the magic in any case."""


class Writer:
    """Writes parts to one sink; small ones are collected. Call `flush` at the end of the epoch."""

    def __init__(self, channel: FeederChannel, sink: Sink) -> None:
        self._gzip = channel.compression == "Gzip"
        self._wrapped = channel.record_wrapper == "RecordIO"
        self._sink = sink
        self._batch: List[bytes] = []
        self._gathered = 0

    def put(self, part: Part, blocks: Optional[Iterator[bytes]] = None) -> None:
        """Write an object, or the value of an attribute. ``blocks`` are an object's bytes if it is not a file."""
        if isinstance(part, bytes):
            self._put_whole(part)
        elif blocks is not None:
            self._put_blocks(part, blocks)
        else:
            try:
                descriptor = os.open(part.path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    self._put_file(part, descriptor)
                finally:
                    os.close(descriptor)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise unreadable(part.path, error) from None

    def flush(self) -> None:
        """Write what was collected."""
        if self._batch:
            pieces, size = self._batch, self._gathered
            self._batch, self._gathered = [], 0
            self._sink.write_all(pieces, size)

    def _gather(self, *pieces: bytes) -> None:
        self._batch += pieces
        self._gathered += sum(map(len, pieces))
        if self._gathered >= _BATCH:
            self.flush()

    def _put_whole(self, data: bytes) -> None:
        if self._wrapped:
            self._gather(*framed(data))
        else:
            self._gather(data)

    def _put_blocks(self, part: StoredObject, blocks: Iterator[bytes]) -> None:
        if self._gzip:
            blocks = decompressed(part.path, blocks)
        if not self._wrapped:
            for block in blocks:
                self._gather(block)
            return
        # The length comes before the payload, so wrapped content must be complete.
        payload = bytearray()
        for block in blocks:
            payload += block
            _require_record_size(part, len(payload))
        self._put_whole(bytes(payload))

    def _put_file(self, part: StoredObject, descriptor: int) -> None:
        if self._gzip:
            self._put_blocks(part, _blocks(descriptor))
            return
        small = _SMALL_RECORD if self._wrapped else _SMALL
        size = part.size
        if size is None or size > small:
            size = os.fstat(descriptor).st_size
        if size <= small:
            # One byte more than was listed shows whether it has grown since.
            data = os.read(descriptor, size + 1)
            if len(data) == size:
                self._put_whole(data)
                return
            size = os.fstat(descriptor).st_size
        self.flush()
        if self._wrapped:
            self._send_record(part, descriptor, size)
        else:
            self._sink.send(part.path, descriptor, size)

    def _send_record(self, part: StoredObject, descriptor: int, size: int) -> None:
        """Write a large file as a record without reading it into memory."""
        _require_record_size(part, size)
        if size:
            with mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) as content:
                parts = list(split(content, size))
                if len(parts) > 1:
                    for flag, start, end in parts:
                        self._sink.write(header(end - start, flag) + content[start:end] + padding(end - start))
                    return
        self._sink.write(header(size))
        self._sink.send(part.path, descriptor, size)
        self._gather(padding(size))


def _blocks(descriptor: int) -> Iterator[bytes]:
    return iter(lambda: os.read(descriptor, _READ), b"")


def _require_record_size(part: StoredObject, size: int) -> None:
    if size > LONGEST:
        raise ChannelDataError(
            "`{}` is larger than {} bytes, the maximum of a RecordIO record".format(part.path, LONGEST)
        )
