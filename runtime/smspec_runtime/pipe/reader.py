"""Passes bytes to a view, in chunks or item by item."""

import io
import sys
from typing import Any, List, Optional, TypeVar, Union

from .errors import Corrupt, Truncated
from .fifo import Source

CHUNK = 256 << 10  # fits into the second-level cache
TRIM = 2 << 20
ROOM = 16 << 10  # bytes before a chunk, for the begin of its first frame
AT_ONCE = 64 << 20  # memory for an item at first: its length may be wrong

Block = TypeVar("Block", List[Any], io.BytesIO)  # items, iterated over at C speed


class Reader(io.RawIOBase):
    """Reads a source, also as a raw file. ``offset`` counts the bytes returned."""

    offset = 0
    exhausted = False

    def __init__(self, source: Source) -> None:
        self.source = source
        bytes(TRIM)  # once freed, it makes malloc keep memory
        self._store = io.BytesIO(bytes(ROOM + CHUNK))
        self._handed_out: Union[List[Any], io.BytesIO] = []

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        count = self.source.readinto(view)
        self.offset += count
        return count

    def chunk(self) -> Optional[memoryview]:
        """Return data, valid until the next call. None: the end."""
        count = self._fill()
        return self._store.getbuffer()[ROOM : ROOM + count] if count else None

    def after(self, head: bytes) -> Optional[bytes]:
        """Return a chunk, from `ROOM` on, after ``head``. None: the end."""
        count = self._fill(head)
        # Copied only if still used at the next read.
        data = self._store.getvalue()
        return (data if count == CHUNK else data[: ROOM + count]) if count else None

    def _fill(self, head: bytes = b"") -> int:
        with self._store.getbuffer() as view, view[ROOM:] as part:
            view[ROOM - len(head) : ROOM] = head
            return self.readinto(part)

    def exact(self, head: bytes, size: int) -> Optional[bytes]:
        """Return ``size`` bytes that begin with ``head``. None: the data ends before."""
        room = min(size, AT_ONCE)
        item = io.BytesIO(bytes(room))  # the result is this buffer, not a copy
        item.getbuffer()[: len(head)] = head
        filled = len(head)
        while filled < size:
            if filled == room:
                room = min(size, 2 * room)
                item.seek(room - 1)
                item.write(b"\0")
            with item.getbuffer()[filled:room] as view:
                count = self.readinto(view)
            if not count:
                return None
            filled += count
        return item.getvalue()

    def deliver(self, block: Block) -> Block:
        """For `exhaust` to withhold the rest."""
        self._handed_out = block
        if self.exhausted:
            self.exhaust()
        elif isinstance(block, list):
            self.source.stats.records += len(block)
        return block

    def exhaust(self) -> None:
        """Let the iteration end at its next item."""
        self.exhausted = True
        if isinstance(self._handed_out, list):
            self._handed_out.clear()
        else:
            self._handed_out.seek(0, io.SEEK_END)

    def corrupt(self, offset: int, problem: str) -> Corrupt:
        return Corrupt(self.source.origin, offset, problem)

    def end_inside(self, offset: int, what: str) -> None:
        if not self.source.halted():
            raise Truncated(self.source.origin, offset, f"the data ends inside {what}") from None

    def close(self) -> None:
        """Also called when the reader is collected."""
        if not sys.is_finalizing():  # then a thread cannot be joined
            self.source.close()
        super().close()
