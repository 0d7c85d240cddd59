"""The view `tar`."""

import re
from typing import Dict, NamedTuple, Optional

from ...tar_headers import ABOUT, BLOCK, FILES, ZEROS, checksum, number, read_about, short_name, text
from ..framing import Framing
from ..reader import Reader

EMPTY = b"123456"  # links, devices, directories, FIFOs: no data
# The header of a regular file, with a short name and an octal size.
PLAIN = re.compile(rb"(?s).{124}[0-7]{11}[\0 ].{12}[0-7]{6}..0.{188}\0.{166}").fullmatch


class Member(NamedTuple):
    name: str
    data: bytes


class Members(Framing):
    """The regular files of one or several tar archives."""

    name = "a member of a tar archive"
    head_size = multiple = BLOCK

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._attributes: Dict[str, str] = {}  # of the next file
        self._global: Dict[str, str] = {}
        self._archive: Optional[int] = None  # where it begins

    def length(self, head: bytes) -> int:
        if head == ZEROS:
            return 0
        if number(head[148:156]) != checksum(head):
            raise ValueError("the checksum of its header is wrong")
        kind = head[156:157]
        if kind in EMPTY:
            return 0
        size = number(head[124:136])
        if kind not in ABOUT:
            size = int(self._attributes.get("size", size))
        if size < 0:
            raise ValueError("its size is negative")
        return size

    def accept(self, head: bytes, body: bytes, _: bytes) -> None:
        kind = head[156:157]
        if head == ZEROS:
            self._archive = None
            self._global.clear()
            return
        if self._archive is None:
            self._archive = self.begin
        if kind in ABOUT:
            (self._global if kind == b"g" else self._attributes).update(read_about(kind, body))
            return
        name = self._attributes.get("path") or self._global.get("path") or short_name(head)
        is_sparse = kind == b"S" or "sparse" in self._attributes
        self._attributes.clear()
        if is_sparse:
            raise ValueError(f"`{name}` is sparse")
        if kind in FILES and not (kind == b"\0" and name.endswith("/")):  # old archives mark directories so
            self.items.append(Member(name, body))

    def plain(self, data: bytes, at: int) -> int:
        while self._archive is not None and not self._attributes and not self._global:
            head = data[at : at + BLOCK]
            if not PLAIN(head) or int(head[148:154], 8) != checksum(head):
                break
            stop, end = self.ends(int(head[124:135], 8))
            if at + end > len(data):
                break
            self.items.append(Member(text(head[:100]), data[at + BLOCK : at + stop]))
            at += end
        return at

    def finish(self) -> None:
        if self._archive is not None:  # perhaps cut between members
            self.reader.end_inside(self._archive, "a tar archive: its end marker is missing")
