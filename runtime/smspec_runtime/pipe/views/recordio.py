"""The view `recordio`.

A record is the magic number, a little-endian word (low 29 bits: length, high 3: part), the payload, and zeros up to a
multiple of 4. Between parts a magic number of the payload is omitted.
"""

import struct
from typing import List

from ..framing import Framing, Heads
from ..reader import Reader

MAGIC = 0xCED7230A
LENGTH = (1 << 29) - 1
WORDS = struct.Struct("<II")
WHOLE, FIRST, MIDDLE, LAST = range(4)
JOINTS = {"dmlc": struct.pack("<I", MAGIC), "concat": b""}


class Records(Framing):
    """Payloads. ``multipart``: "dmlc" puts the magic number back between parts, "concat" does not."""

    name = "a RecordIO record"
    head_size = WORDS.size
    multiple = 4

    def __init__(self, reader: Reader, multipart: str = "dmlc") -> None:
        super().__init__(reader)
        if multipart not in JOINTS:
            raise ValueError(f"multipart is `{multipart}`; it can be {' or '.join(JOINTS)}")
        self._joint = JOINTS[multipart]
        self._heads = Heads(self, _word)
        self.parts: List[bytes] = []
        self._first = 0

    def complete(self, payload: bytes) -> None:
        """Append the items completed by the record at ``begin``."""
        self.items.append(payload)

    def length(self, head: bytes) -> int:
        word = _word(head)
        part = word >> 29
        if part > LAST or (part in (WHOLE, FIRST)) == bool(self.parts):
            raise ValueError(f"part {part} of a record {'inside' if self.parts else 'outside'} one of several parts")
        return word & LENGTH

    def accept(self, head: bytes, body: bytes, _: bytes) -> None:
        if not self.parts:
            self._first = self.begin
        self.begin = self._first
        self.parts.append(body)
        if head[7] >> 5 in (WHOLE, LAST):
            payload = self._joint.join(self.parts)
            self.parts.clear()
            self.complete(payload)

    def finish(self) -> None:
        if self.parts:
            self.reader.end_inside(self._first, f"{self.name}, after {len(self.parts)} of its parts")

    def plain(self, data: bytes, at: int) -> int:
        return at if self.parts else self._heads.cut(data, at, self.items)


def _word(head: bytes) -> int:
    """The length of a record; of a part more than any chunk contains."""
    magic, word = WORDS.unpack(head)
    if magic != MAGIC:
        raise ValueError(f"it begins with 0a23d7ce, here is {head[:4].hex()} ({head[:4]!r})")
    return int(word)
