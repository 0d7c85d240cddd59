"""The view `tfrecord`.

A record is the length (8 bytes), its checksum (4), the payload and its checksum (4); little-endian, masked CRC-32C.
"""

import struct
from functools import lru_cache
from typing import List

from ..framing import Framing, Heads
from ..reader import Reader

HEAD = struct.Struct("<QI")
POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
MASK = 0xA282EAD8


class TFRecords(Framing):
    """Payloads. ``crc``: check them too, not only lengths, at some 10 MB/s."""

    name = "a TFRecord record"
    head_size = HEAD.size
    tail_size = 4

    def __init__(self, reader: Reader, crc: bool = False) -> None:
        super().__init__(reader)
        self._crc = crc
        self._heads = Heads(self, self.length)

    def length(self, head: bytes) -> int:
        length, checksum = HEAD.unpack(head)
        if checksum != masked_crc32c(head[:8]):
            raise ValueError("the checksum of the length is wrong")
        return int(length)

    def accept(self, _: bytes, body: bytes, tail: bytes) -> None:
        if self._crc and int.from_bytes(tail, "little") != masked_crc32c(body):
            raise ValueError("the checksum of a record is wrong")
        self.items.append(body)

    def plain(self, data: bytes, at: int) -> int:
        return at if self._crc else self._heads.cut(data, at, self.items)


def masked_crc32c(data: bytes) -> int:
    """As TFRecord stores it."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF


@lru_cache(maxsize=None)
def _table() -> List[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ byte % 2 * POLYNOMIAL
        table.append(byte)
    return table
