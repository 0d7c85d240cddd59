"""RecordIO framing, as dmlc-core writes it.

``u32 magic | u32 flag and length | payload | zeros up to a multiple of 4``, little-endian. A payload that contains the
magic at a multiple of 4 is split there: the four bytes are omitted, and the reader puts them back between the parts.
"""

import mmap
import struct
from typing import Iterator, List, Tuple, Union

MAGIC = b"\x0a\x23\xd7\xce"
LONGEST = (1 << 29) - 1
"""The maximum number of bytes of one part: the upper three of the 32 bits are the flag."""

_WHOLE, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3
_HEADER = struct.Struct("<4sI")


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
