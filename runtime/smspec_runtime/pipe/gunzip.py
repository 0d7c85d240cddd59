"""Decompresses gzip where SageMaker does not (CompressionType None)."""

import zlib
from typing import Any

from .errors import Corrupt, Truncated
from .fifo import Layer, Source

INPUT = 64 << 10
GZIP = 31  # wbits of zlib: gzip, the largest window


class Gunzip(Layer):
    """One or several members."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._buffer = memoryview(bytearray(INPUT))
        self._input = b""
        self._read = self._begin = 0
        self._member: Any = None  # zlib does not name the type

    def readinto(self, view: memoryview) -> int:
        while not self.halted():
            if data := self._decompressed(len(view)):
                view[: len(data)] = data
                return len(data)
            if not self._input:
                if not (count := self.below.readinto(self._buffer)):
                    break
                self._read += count
                self._input = bytes(self._buffer[:count])
        if self._member and not self.halted():
            raise Truncated(self.origin, self._begin, "the data ends inside the gzip member that begins here")
        return 0

    def _decompressed(self, size: int) -> bytes:
        """Empty at the end of a member or of the input."""
        if not self._member:
            self._input = self._input.lstrip(b"\0")  # members may be padded
            if not self._input:
                return b""
            self._begin = self._read - len(self._input)
            self._member = zlib.decompressobj(GZIP)
        try:
            data: bytes = self._member.decompress(self._input, size)
        except zlib.error as error:
            raise Corrupt(self.origin, self._begin, f"the gzip member that begins here is damaged: {error}") from None
        self._input = self._member.unconsumed_tail
        if self._member.eof:
            self._input = self._member.unused_data
            self._member = None
        return data
