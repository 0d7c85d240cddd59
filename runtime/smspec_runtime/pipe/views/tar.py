"""The view `tar`."""

import re
from typing import Dict, NamedTuple, Optional
from zlib import adler32

from ..framing import Framing, Parts
from ..reader import Reader

BLOCK = 512
ZEROS = bytes(BLOCK)
FILES = b"0\x007"  # types of regular files: of today, of old archives, contiguous
ABOUT = b"xgLK"  # pax: the next file, all files; GNU: name and link of the next file
EMPTY = b"123456"  # links, devices, directories, FIFOs: nothing follows, whatever the size
# A header of a regular file with a short name and a size in octal digits.
PLAIN = re.compile(rb"(?s).{124}[0-7]{11}[\0 ].{12}[0-7]{6}..0.{188}\0.{166}").fullmatch


class Member(NamedTuple):
    """A file of an archive."""

    name: str
    data: bytes


class Members(Framing):
    """The regular files of tar archives (ustar, GNU, pax), which may follow each other.

    A member is a header block, the content, zeros up to a whole block.
    """

    name = "a member of a tar archive"
    head_size = multiple = BLOCK

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._attributes: Dict[str, str] = {}  # of the next file
        self._global: Dict[str, str] = {}
        self._archive: Optional[int] = None  # where it begins

    def length(self, head: bytes) -> int:
        kind = head[156:157]
        if head != ZEROS and _number(head[148:156]) != _checksum(head):
            raise ValueError("the checksum of its header is wrong")
        if head == ZEROS or kind in EMPTY:
            return 0
        size = _number(head[124:136])
        if kind not in ABOUT:
            size = int(self._attributes.get("size", size))
        if size < 0:
            raise ValueError("its size is negative")
        return size

    def accept(self, parts: Parts) -> None:
        head, body, _ = parts
        kind = head[156:157]
        if head == ZEROS:
            self._archive = None
            self._global.clear()
            return
        if self._archive is None:
            self._archive = self.begin
        if kind == b"L":
            self._attributes.setdefault("path", _text(body))
        elif kind == b"x":
            self._attributes.update(_pax(body))
        elif kind == b"g":
            self._global.update(_pax(body))
        elif kind != b"K":
            self._file(kind, head, body)

    def plain(self, data: bytes, at: int) -> int:
        while self._archive is not None and not self._attributes and not self._global:
            head = data[at : at + BLOCK]
            if not PLAIN(head) or int(head[148:154], 8) != _checksum(head):
                break
            stop, end = self.ends(int(head[124:135], 8))
            if at + end > len(data):
                break
            self.items.append(Member(_text(head[:100]), data[at + BLOCK : at + stop]))
            at += end
        return at

    def finish(self) -> None:
        # Without zeros at its end an archive may have been cut between members.
        if self._archive is not None:
            self.reader.end_inside(self._archive, "a tar archive: its end marker is missing")

    def _file(self, kind: bytes, head: bytes, body: bytes) -> None:
        name = self._attributes.get("path") or self._global.get("path")
        self._attributes = {}
        if not name:
            name = _text(head[:100])
            prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
            name = f"{prefix}/{name}" if prefix else name
        if kind == b"S":
            raise ValueError(f"`{name}` is sparse")
        if kind in FILES and not (kind == b"\0" and name.endswith("/")):  # old archives mark directories so
            self.items.append(Member(name, body))


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _checksum(head: bytes) -> int:
    """Sum up the bytes, those of the checksum as blanks. Adler-32 has 1 and the sum of up to 256 bytes."""
    begin, middle, end = adler32(head[:148]), adler32(head[156:400]), adler32(head[400:])
    return (begin & 0xFFFF) + (middle & 0xFFFF) + (end & 0xFFFF) - 3 + 8 * ord(" ")


def _number(field: bytes) -> int:
    """Read octal digits, or, with the first bit set, base 256 (sizes from 8 GiB)."""
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big") if field[0] == 0x80 else -1
    return int(field.split(b"\0", 1)[0].strip() or b"0", 8)


def _pax(body: bytes) -> Dict[str, str]:
    """Read ``length key=value\\n`` records."""
    attributes = {}
    while body:
        size = body.split(b" ", 1)[0]
        record, body = body[len(size) + 1 : int(size)], body[int(size) :]
        key, equals, value = record[:-1].partition(b"=")
        if not equals or not record.endswith(b"\n"):
            raise ValueError("its extended header is damaged")
        attributes[_text(key)] = _text(value)
    return attributes
