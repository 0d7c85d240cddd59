"""Write the parts of an epoch to a FIFO in the format of the channel: decompressed, framed as RecordIO, or as they are.

A record as dmlc-core writes it: ``u32 magic | u32 flag and length | payload | zeros up to a multiple of 4``,
little-endian. A payload that contains the magic at a multiple of 4 is split there: the four bytes are omitted, and the
reader puts them back between the parts.
"""

import mmap
import os
import struct
import zlib
from typing import Iterable, Iterator, List, Optional, Tuple, Union

from .fifo import Sink
from .objects import ChannelDataError, Part, StoredObject, unreadable
from .plan import FeederChannel

MAGIC = b"\x0a\x23\xd7\xce"
LONGEST = (1 << 29) - 1
"""The maximum number of bytes of one part: the upper three of the 32 bits are the flag."""
_WHOLE, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3
_HEADER = struct.Struct("<4sI")
_PIECE = 1 << 18
_GZIP = 31  # window bits of zlib: gzip header and trailer
_READ = 1 << 16
_BATCH = 1 << 18
_SMALL = 1 << 16
"""A file up to this size is read and written with its neighbors; the kernel sends a larger one."""
_SMALL_RECORD = 1 << 20
"""The same for a file that becomes a record: it has to be searched for the magic in any case."""


def header(size: int, flag: int = _WHOLE) -> bytes:
    """Return the eight bytes before a payload or a part of one."""
    return _HEADER.pack(MAGIC, flag << 29 | size)


def padding(size: int) -> bytes:
    """Return the zeros after a payload of ``size`` bytes."""
    return b"\0" * (-size % 4)


def framed_size(size: int) -> int:
    """Return the length of the record for a payload of ``size`` bytes without the magic, which is nearly every one."""
    return _HEADER.size + size + -size % 4


def framed(payload: bytes) -> List[bytes]:
    """Return a payload in memory as one record, in pieces."""
    size = len(payload)
    if payload.rfind(MAGIC) == -1:  # a single search, because there may be a hundred thousand of them in a second
        return [_HEADER.pack(MAGIC, size), payload, b"\0" * (-size % 4)]
    pieces = []
    for flag, start, end in split(payload, size):
        pieces += [header(end - start, flag), payload[start:end], padding(end - start)]
    return pieces


def split(payload: Union[bytes, mmap.mmap], size: int) -> Iterator[Tuple[int, int, int]]:
    """Yield (flag, start, end) of the parts of a payload; one part if it does not contain the magic."""
    start = 0
    # Nearly always there is none, and searching backward takes Python little more than half the time.
    position = -1 if payload.rfind(MAGIC) == -1 else payload.find(MAGIC)
    while position != -1:
        if position % 4 == 0:
            yield (_MIDDLE if start else _FIRST), start, position
            start = position + 4
            position = payload.find(MAGIC, start)
        else:
            position = payload.find(MAGIC, position + 1)
    yield (_LAST if start else _WHOLE), start, size


def decompressed(name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip stream in ``blocks``; ``name`` is its name in messages."""
    inflater = zlib.decompressobj(_GZIP)
    started = False
    for data in blocks:
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")  # some writers pad the last block
                if not data:
                    break
                inflater = zlib.decompressobj(_GZIP)
            started = True
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error:
                raise ChannelDataError("`{}` is not a gzip file".format(name)) from None
            if piece:
                yield piece
            data = inflater.unconsumed_tail or inflater.unused_data
    if started and not inflater.eof:
        yield inflater.flush()
    if started and not inflater.eof:
        raise ChannelDataError("`{}` is a truncated gzip file".format(name))


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
