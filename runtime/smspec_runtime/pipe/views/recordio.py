"""The view `recordio`: payloads of RecordIO records, those of several parts put together again.

A record is the magic number, a word with the length in its low 29 bits and the part in its high 3, the payload, and
zeros up to a multiple of 4; both words little-endian. A payload that holds the magic number at a multiple of 4 is
written as several parts with the number left out between them. Some writers never split, and some readers join parts
without the number; for their data there is ``multipart="concat"``.
"""

import struct
from abc import abstractmethod
from itertools import chain
from typing import Iterator, List, Optional, TypeVar

from ..errors import Corrupt
from ..framing import NONE, Frame, Framing, Heads, Parts, Unfinished, blocks
from ..reader import Reader

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
LENGTH = (1 << 29) - 1
WORDS = struct.Struct("<II")
WHOLE, FIRST, MIDDLE, LAST = range(4)
JOINTS = {"dmlc": MAGIC_BYTES, "concat": b""}
"""What stands between the parts of a record."""

Item = TypeVar("Item")


def recordio(reader: Reader, multipart: str = "dmlc") -> Iterator[bytes]:
    """Iterate over payloads. ``multipart``: "dmlc" puts the magic number back between parts, "concat" does not."""
    return chain.from_iterable(blocks(reader, Payloads(reader, multipart)))


class Records(Framing[Item]):
    """RecordIO framing; `complete` makes items of payloads."""

    name = "a RecordIO record"
    head_size = WORDS.size

    def __init__(self, reader: Reader, multipart: str = "dmlc") -> None:
        if multipart not in JOINTS:
            raise ValueError("multipart is `{}`; it can be {}".format(multipart, " or ".join(JOINTS)))
        self.reader = reader
        self._joint = JOINTS[multipart]
        self.parts: List[bytes] = []
        self._begun = 0

    @abstractmethod
    def complete(self, payload: bytes, offset: int, items: List[Item]) -> None:
        """Take the payload of the record that begins at ``offset``."""

    def frame(self, data: bytes, at: int, offset: int) -> Frame:
        magic, word = WORDS.unpack_from(data, at)
        if magic != MAGIC:
            found = data[at : at + 4].hex()
            raise self._corrupt(offset, f"a record begins with 0a23d7ce, here is {found}")
        part = word >> 29
        if part > LAST or (part in (WHOLE, FIRST)) == bool(self.parts):
            state = "inside" if self.parts else "outside"
            raise self._corrupt(offset, f"part {part} of a record {state} one of several parts")
        length = word & LENGTH
        return Frame(WORDS.size, length, -length & 3)

    def accept(self, parts: Parts, offset: int, items: List[Item]) -> None:
        part = WORDS.unpack(parts.head)[1] >> 29
        if part == WHOLE:
            self.complete(parts.body, offset, items)
            return
        if part == FIRST:
            self._begun = offset
        self.parts.append(parts.body)
        if part == LAST:
            payload = self._joint.join(self.parts)
            self.parts.clear()
            self.complete(payload, self._begun, items)

    def unfinished(self) -> Optional[Unfinished]:
        if self.parts:
            return Unfinished(self._begun, f"a RecordIO record, after {len(self.parts)} of its parts")
        return None

    def _corrupt(self, offset: int, problem: str) -> Corrupt:
        return self.reader.corrupt(offset, problem)


class Payloads(Records[bytes]):
    """The payloads themselves."""

    def __init__(self, reader: Reader, multipart: str = "dmlc") -> None:
        super().__init__(reader, multipart)
        self._heads = Heads(WORDS.size, 0, 4, plain_length)

    def complete(self, payload: bytes, offset: int, items: List[bytes]) -> None:  # noqa: ARG002 - others need it
        items.append(payload)

    def plain(self, data: bytes, at: int, items: List[bytes]) -> int:
        return at if self.parts else self._heads.cut(data, at, items)


def plain_length(head: bytes) -> int:
    """Return the length of the payload after a header, `NONE` if it is no header of a record of one part."""
    if len(head) < WORDS.size:
        return NONE
    magic, word = WORDS.unpack(head)
    return word if magic == MAGIC and word <= LENGTH else NONE
