"""Read a gzip file from blocks, as a stream of known sizes, to the checksum at its end."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from smspec.collection.faults import ResultRefused

_GZIP = 31
"""The window of `zlib` that reads the header of gzip, and checks the CRC-32 and the size at its end."""
_PIECE = 1 << 18


class GzipReader:
    """Decompresses no more than it is asked for, so a small archive cannot fill the memory. ``name`` is for errors."""

    def __init__(self, name: str, blocks: Iterator[bytes]) -> None:
        self._name = name
        self._blocks = blocks
        self._member = zlib.decompressobj(_GZIP)
        self._left = b""
        self._is_new = True

    def exactly(self, size: int) -> bytes:
        """Return ``size`` bytes. Raise `ResultRefused` if there are fewer."""
        data = b"".join(self.pieces(size))
        if len(data) != size:
            raise self.damaged("it ends within a file")
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield ``size`` bytes in pieces, fewer at the end of the file."""
        while size:
            piece = self._piece(min(size, _PIECE))
            if not piece:
                return
            size -= len(piece)
            yield piece

    def finish(self) -> None:
        """Read the rest, for its checksum and for that of the blocks."""
        while self._piece(_PIECE):
            pass

    def damaged(self, why: str) -> ResultRefused:
        return ResultRefused(f"`{self._name}` is damaged: {why}")

    def _piece(self, most: int) -> bytes:
        while True:
            if not self._left:
                self._left = next(self._blocks, b"")
                if not self._left:
                    if not self._is_new:
                        raise self.damaged("it ends before its checksum")
                    return b""
            if self._is_new:
                self._left = self._left.lstrip(b"\0")  # gzip ignores zeros between and after its members
                if not self._left:
                    continue
                self._is_new = False
            try:
                piece = self._member.decompress(self._left, most)
            except zlib.error as fault:
                raise self.damaged(f"it is not a gzip file, or its checksum is wrong ({fault})") from None
            self._left = self._member.unconsumed_tail
            if self._member.eof:
                self._left = self._member.unused_data
                self._member, self._is_new = zlib.decompressobj(_GZIP), True
            if piece:
                return piece
