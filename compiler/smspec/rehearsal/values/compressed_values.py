"""Compressed files: gzip, whose header has a time, bzip2, xz, and the bare zlib that joblib writes."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

from smspec.rehearsal.values.leaf import Leaves, Unreadable

_MOST_BYTES = 1 << 30


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


_FORMATS: tuple[tuple[bytes, Callable[[], _Stream]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (b"x", lambda: zlib.decompressobj(15)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ", lzma.LZMADecompressor),
)


def decode(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of the compressed file."""
    start = next((start for start, _ in _FORMATS if data.startswith(start)), None)
    if start is None:
        raise Unreadable
    content = _decompressed(data, dict(_FORMATS)[start])
    return decode_member(content) or {"content": content.hex() if len(content) < 1 << 16 else str(zlib.crc32(content))}


def _decompressed(data: bytes, new: Callable[[], _Stream]) -> bytes:
    """Return the content of all streams, one after the other."""
    parts: list[bytes] = []
    room = _MOST_BYTES
    while data:
        stream = new()
        try:
            parts.append(stream.decompress(data, room))
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            raise Unreadable from None
        room -= len(parts[-1])
        if not stream.eof or room <= 0:
            raise Unreadable
        data = stream.unused_data
    return b"".join(parts)
