"""Puts the parts of an epoch into a FIFO, in the form that the channel asks for."""

import mmap
import os
import zlib
from typing import BinaryIO, Iterator, List

from .entries import Part
from .fault import DataError
from .objects import StoredObject
from .plan import FeederChannel
from .recordio import LONGEST, framed, header, padding, split
from .sink import Sink

_READ = 1 << 18
_BATCH = 1 << 18
_SMALL = 1 << 16
"""Up to here a file is read and goes out with its neighbours; a larger one is sent by the kernel."""

_GZIP = 31  # window bits of zlib: gzip header and trailer


class Writer:
    """Writes parts into one sink; small ones are gathered. `flush` when the epoch is over."""

    def __init__(self, channel: FeederChannel, sink: Sink) -> None:
        self._gzip = channel.compression == "Gzip"
        self._wrapped = channel.record_wrapper == "RecordIO"
        self._sink = sink
        self._batch: List[bytes] = []
        self._gathered = 0

    def put(self, part: Part) -> None:
        """Write an object, or the value of an attribute."""
        if isinstance(part, bytes):
            self._gather(framed(part) if self._wrapped else part)
            return
        try:
            file: BinaryIO = open(part.path, "rb")
        except OSError as error:
            raise DataError("cannot read `{}`: {}".format(part.path, (error.strerror or str(error)).lower())) from None
        with file:
            if self._gzip:
                self._put_gzip(part, file)
            else:
                self._put_file(part, file)

    def flush(self) -> None:
        """Write what was gathered."""
        if self._batch:
            data = b"".join(self._batch)
            self._batch.clear()
            self._gathered = 0
            self._sink.write(data)

    def _gather(self, data: bytes) -> None:
        self._batch.append(data)
        self._gathered += len(data)
        if self._gathered >= _BATCH:
            self.flush()

    def _put_file(self, part: StoredObject, file: BinaryIO) -> None:
        size = os.fstat(file.fileno()).st_size
        if size <= _SMALL:
            data = file.read()
            self._gather(framed(data) if self._wrapped else data)
            return
        self.flush()
        if self._wrapped:
            self._send_record(part, file, size)
        else:
            self._sink.send(file, size)

    def _send_record(self, part: StoredObject, file: BinaryIO, size: int) -> None:
        """Frame a large file without taking it into memory."""
        _require_record_size(part, size)
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as content:
            parts = list(split(content, size))
            if len(parts) > 1:
                for flag, start, end in parts:
                    self._sink.write(header(end - start, flag) + content[start:end] + padding(end - start))
                return
        self._sink.write(header(size))
        self._sink.send(file, size)
        self._gather(padding(size))

    def _put_gzip(self, part: StoredObject, file: BinaryIO) -> None:
        chunks = _decompressed(part, file)
        if not self._wrapped:
            for chunk in chunks:
                self._gather(chunk)
            return
        # The length stands before the payload, so a wrapped object has to be known whole.
        payload = bytearray()
        for chunk in chunks:
            payload += chunk
            _require_record_size(part, len(payload))
        self._gather(framed(bytes(payload)))


def _require_record_size(part: StoredObject, size: int) -> None:
    if size > LONGEST:
        raise DataError("`{}` has more than the {} bytes that a RecordIO record can hold".format(part.path, LONGEST))


def _decompressed(part: StoredObject, file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a gzip file of one or several members, in pieces of limited size."""
    inflater = zlib.decompressobj(_GZIP)
    started = False
    while True:
        data = file.read(_READ)
        if not data:
            break
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")  # some writers fill up to a block
                if not data:
                    break
                inflater = zlib.decompressobj(_GZIP)
            started = True
            try:
                chunk = inflater.decompress(data, _READ)
            except zlib.error:
                raise DataError("`{}` is not gzip".format(part.path)) from None
            if chunk:
                yield chunk
            data = inflater.unconsumed_tail or inflater.unused_data
    if started and not inflater.eof:
        yield inflater.flush()
    if started and not inflater.eof:
        raise DataError("`{}` ends inside its gzip stream".format(part.path))
