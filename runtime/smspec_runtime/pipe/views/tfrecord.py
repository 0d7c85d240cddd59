"""The view `tfrecord`: payloads of TFRecord records.

A record is the length (8 bytes), its checksum (4), the payload and its checksum (4); little-endian, masked CRC-32C.
"""

import struct
from functools import lru_cache
from itertools import chain
from typing import Iterator, List, Tuple

from ..framing import NONE, Frame, Framing, Heads, Parts, blocks
from ..reader import Reader

HEAD = struct.Struct("<QI")
CHECKSUM = struct.Struct("<I")
POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
MASK = 0xA282EAD8


def tfrecord(reader: Reader, crc: bool = False) -> Iterator[bytes]:
    """Iterate over payloads. Lengths are always checked; ``crc`` checks payloads too, at some 10 MB/s."""
    return chain.from_iterable(blocks(reader, TFRecords(reader, crc)))


class TFRecords(Framing[bytes]):
    """TFRecord framing. A wrong length cannot pass: it has a checksum of its own."""

    name = "a TFRecord record"
    head_size = HEAD.size

    def __init__(self, reader: Reader, crc: bool) -> None:
        self._reader = reader
        self._crc = crc
        self._heads = Heads(HEAD.size, CHECKSUM.size, 1, _plain_length)

    def frame(self, data: bytes, at: int, offset: int) -> Frame:
        length = self._heads[data[at : at + HEAD.size]]
        if length == NONE:
            raise self._reader.corrupt(offset, "the checksum of the length of a record is wrong")
        return Frame(HEAD.size, length, CHECKSUM.size)

    def accept(self, parts: Parts, offset: int, items: List[bytes]) -> None:
        if self._crc and CHECKSUM.unpack(parts.tail)[0] != masked_crc32c(parts.body):
            raise self._reader.corrupt(offset, "the checksum of a record is wrong")
        items.append(parts.body)

    def plain(self, data: bytes, at: int, items: List[bytes]) -> int:
        return at if self._crc else self._heads.cut(data, at, items)


def _plain_length(head: bytes) -> int:
    """Return the length that a header tells, `NONE` if it is none."""
    if len(head) < HEAD.size:
        return NONE
    length, checksum = HEAD.unpack(head)
    return int(length) if checksum == masked_crc32c(head[:8]) else NONE


def masked_crc32c(data: bytes) -> int:
    """Return the checksum of ``data`` as TFRecord stores it."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF


@lru_cache(maxsize=None)
def _table() -> Tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return tuple(table)
