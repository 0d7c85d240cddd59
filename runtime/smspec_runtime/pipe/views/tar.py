"""The view `tar`: the regular files of tar archives, one after another; archives may follow each other.

Reads ustar, GNU (long names, large sizes) and pax archives.
"""

import re
from itertools import chain
from typing import Dict, Iterator, List, NamedTuple, Optional
from zlib import adler32

from ..framing import Frame, Framing, Parts, Unfinished, blocks
from ..reader import Reader

BLOCK = 512
ZEROS = bytes(BLOCK)
FILE_TYPES = b"0\x007"
EMPTY_TYPES = b"123456"  # links, devices, directories, FIFOs: nothing follows, whatever their size says
PAX, PAX_GLOBAL, LONG_NAME, LONG_LINK, SPARSE = b"x", b"g", b"L", b"K", b"S"
PLAIN = re.compile(rb"(?s).{124}[0-7]{11}[\0 ].{12}[0-7]{6}..0.{188}\0.{166}").fullmatch
"""A header of a regular file with a short name and a size in octal digits."""


class Member(NamedTuple):
    """A file of an archive."""

    name: str
    data: bytes


def tar(reader: Reader) -> Iterator[Member]:
    """Iterate over the regular files. Directories, links and devices are passed over."""
    return chain.from_iterable(blocks(reader, Members(reader)))


class Members(Framing[Member]):
    """Tar framing: a header block, the content, zeros up to a whole block."""

    name = "a member of a tar archive"
    head_size = BLOCK

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._long_name: Optional[str] = None
        self._attributes: Dict[str, str] = {}
        self._global: Dict[str, str] = {}
        self._open_at: Optional[int] = None

    def frame(self, data: bytes, at: int, offset: int) -> Frame:
        head = data[at : at + BLOCK]
        if head == ZEROS:
            return Frame(BLOCK, 0, 0)
        try:
            if _number(head[148:156]) != _checksum(head):
                raise ValueError("the checksum is wrong")
            size = self._size(head)
        except ValueError as error:
            raise self._reader.corrupt(offset, f"no header of a tar member: {error}") from error
        return Frame(BLOCK, size, -size % BLOCK)

    def accept(self, parts: Parts, offset: int, items: List[Member]) -> None:
        head, body = parts.head, parts.body
        if head == ZEROS:
            self._open_at = None
            self._global.clear()
            return
        if self._open_at is None:
            self._open_at = offset
        kind = head[156:157]
        try:
            if kind == LONG_NAME:
                self._long_name = _text(body)
            elif kind == PAX:
                self._attributes = _pax(body)
            elif kind == PAX_GLOBAL:
                self._global.update(_pax(body))
            elif kind != LONG_LINK:
                self._file(head, kind, body, items)
        except ValueError as error:
            raise self._reader.corrupt(offset, f"a member of a tar archive: {error}") from error

    def plain(self, data: bytes, at: int, items: List[Member]) -> int:
        pending = self._open_at is None or self._long_name or self._attributes or self._global
        while not pending:
            start = at + BLOCK
            head = data[at:start]
            if not PLAIN(head) or int(head[148:154], 8) != _checksum(head):
                break
            size = int(head[124:135], 8)
            end = start + size + -size % BLOCK
            if end > len(data):
                break
            items.append(Member(_text(head[:100]), data[start : start + size]))
            at = end
        return at

    def unfinished(self) -> Optional[Unfinished]:
        """An archive ends with blocks of zeros; without them it may have been cut between two members."""
        if self._open_at is None:
            return None
        return Unfinished(self._open_at, "a tar archive: its end marker is missing")

    def _file(self, head: bytes, kind: bytes, body: bytes, items: List[Member]) -> None:
        name = self._name(head)
        self._long_name = None
        self._attributes = {}
        if kind == SPARSE:
            raise ValueError(f"`{name}` is sparse")
        if kind in FILE_TYPES and not (kind == b"\0" and name.endswith("/")):  # old archives mark directories so
            items.append(Member(name, body))

    def _name(self, head: bytes) -> str:
        path = self._attributes.get("path") or self._long_name or self._global.get("path")
        if path:
            return path
        name = _text(head[:100])
        prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
        return f"{prefix}/{name}" if prefix else name

    def _size(self, head: bytes) -> int:
        kind = head[156:157]
        if kind in EMPTY_TYPES:
            return 0
        size = _number(head[124:136])
        if kind not in (PAX, PAX_GLOBAL, LONG_NAME, LONG_LINK) and "size" in self._attributes:
            size = int(self._attributes["size"])
        if size < 0:
            raise ValueError("the size is negative")
        return size


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _checksum(head: bytes) -> int:
    """Sum up the bytes, those of the checksum itself as blanks. Adler-32 has 1 and the sum of up to 256 bytes."""
    total = (adler32(head[:256]) & 0xFFFF) + (adler32(head[256:]) & 0xFFFF) - 2
    return total - sum(head[148:156]) + 8 * ord(" ")


def _number(field: bytes) -> int:
    """Read a number: octal digits, or, with the first bit set, base 256 (sizes from 8 GiB)."""
    if field[0] & 0x80:
        value = int.from_bytes(field, "big")
        return value - (0x80 << 8 * (len(field) - 1)) if field[0] == 0x80 else -1
    digits = field.split(b"\0", 1)[0].strip()
    return int(digits, 8) if digits else 0


def _pax(body: bytes) -> Dict[str, str]:
    """Read ``length key=value\\n`` records."""
    attributes = {}
    while body:
        size = body.split(b" ", 1)[0]
        length = int(size)
        record = body[len(size) + 1 : length]
        if length <= len(size) or not record.endswith(b"\n") or b"=" not in record:
            raise ValueError("its extended header is damaged")
        key, _, value = record[:-1].partition(b"=")
        attributes[key.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        body = body[length:]
    return attributes
