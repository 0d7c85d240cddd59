"""Cuts a stream of framed items (records, tar members) out of the chunks that a reader gives."""

from abc import ABC, abstractmethod
from functools import lru_cache
from struct import Struct
from typing import Callable, Dict, Generic, Iterator, List, NamedTuple, Optional, TypeVar

from .errors import Corrupt
from .reader import Reader

CARRY = 4096
"""An item of up to this many bytes that a chunk cuts in two is joined to the next chunk; a larger one is read whole."""

RUN = 32
"""Frames of one size that are cut at once."""

NONE = 1 << 62
"""As a length: no plain frame. Larger than any data, so that it needs no question of its own."""

HEADS = 4096
"""Heads that are remembered: most recur."""

Item = TypeVar("Item")


class Frame(NamedTuple):
    """Sizes of the three parts of one item: header, payload, and what follows it (padding, checksum)."""

    head: int
    body: int
    tail: int


class Parts(NamedTuple):
    """The bytes of the three parts."""

    head: bytes
    body: bytes
    tail: bytes


class Unfinished(NamedTuple):
    """An item of several frames of which some are missing."""

    offset: int
    what: str


class Framing(ABC, Generic[Item]):
    """A format: says how long a frame is and makes items of frames. One object reads one stream."""

    name = "a record"
    head_size: int

    @abstractmethod
    def frame(self, data: bytes, at: int, offset: int) -> Frame:
        """Return the sizes told by the complete header at ``at``, byte ``offset`` of the epoch. Raises Corrupt."""

    @abstractmethod
    def accept(self, parts: Parts, offset: int, items: List[Item]) -> None:
        """Append the items, if any, that this frame completes. Raises Corrupt."""

    def unfinished(self) -> Optional[Unfinished]:
        """What is missing when the data ends after a complete frame."""
        return None

    def plain(self, data: bytes, at: int, items: List[Item]) -> int:  # noqa: ARG002 - others need them
        """Append, fast, the items of the frames at ``at`` that raise no question; return where another one begins."""
        return at

    def split(self, data: bytes, begin: int, items: List[Item]) -> int:
        """Append the items of all complete frames and return where they end. ``data`` is at ``begin`` of the epoch."""
        at = 0
        while True:
            at = self.plain(data, at, items)
            if len(data) - at < self.head_size:
                return at
            head, body, tail = self.frame(data, at, begin + at)
            start = at + head
            stop = start + body
            end = stop + tail
            if end > len(data):
                return at
            self.accept(Parts(data[at:start], data[start:stop], data[stop:end]), begin + at, items)
            at = end


class Heads(Dict[bytes, int]):
    """Header of a plain frame → length of its payload; other bytes, or too few → `NONE`. Payloads are cut by it."""

    def __init__(self, size: int, tail: int, multiple: int, read: Callable[[bytes], int]) -> None:
        """``tail`` bytes follow a payload, then what is missing to a ``multiple``. ``read`` tells a header's length."""
        super().__init__()
        self._sizes = size, tail + multiple - 1, -multiple
        self._read = read

    def __missing__(self, head: bytes) -> int:
        length = self._read(head)
        if len(self) < HEADS:
            self[head] = length
        return length

    def cut(self, data: bytes, at: int, payloads: List[bytes]) -> int:
        """Append the payloads of complete plain frames; return where they end."""
        size, rounding, mask = self._sizes
        append, end = payloads.append, len(data)
        while True:
            # If the frame a run ahead is like this one, those between may be as well: one look at all.
            head = data[at : at + size]
            length = self[head]
            stride = size + length + rounding & mask
            last = at + (RUN - 1) * stride
            if last < end and data[last : last + size] == head:
                run = _run(size, length, stride)
                while at + run.size <= end:
                    parts = run.unpack_from(data, at)
                    if parts[::2].count(head) < RUN:
                        break
                    payloads += parts[1::2]
                    at += run.size
            for _ in range(RUN):
                start = at + size
                length = self[data[at:start]]
                stop = start + length
                after = stop + rounding & mask
                if after > end:
                    return at
                append(data[start:stop])
                at = after


@lru_cache(maxsize=64)
def _run(head: int, body: int, stride: int) -> Struct:
    return Struct(f"{head}s{body}s{stride - head - body}x" * RUN)


def blocks(reader: Reader, framing: Framing[Item]) -> Iterator[List[Item]]:
    """Yield lists of items as their data comes in. What came before a fault is yielded before the fault is raised."""
    data = b""
    while True:
        chunk = reader.chunk()
        if chunk is None:
            break
        data = data + chunk
        items: List[Item] = []
        try:
            used = framing.split(data, reader.offset - len(data), items)
        except Corrupt:
            yield reader.deliver(items)
            raise
        if items:
            yield reader.deliver(items)
        data = data[used:]
        if len(data) >= framing.head_size:
            frame = framing.frame(data, 0, reader.offset - len(data))
            if sum(frame) > CARRY:
                yield from _whole(reader, framing, frame, data)
                data = b""
    if data:
        reader.end_inside(reader.offset - len(data), f"{framing.name}, after {len(data)} bytes")
    unfinished = framing.unfinished()
    if unfinished is not None:
        reader.end_inside(unfinished.offset, unfinished.what)


def _whole(reader: Reader, framing: Framing[Item], frame: Frame, data: bytes) -> Iterator[List[Item]]:
    """Read the rest of the frame that ``data`` begins, its payload straight to where it stays."""
    begin = reader.offset - len(data)
    start = frame.head
    stop = start + frame.body
    body = reader.exact(data[start:stop], frame.body)
    tail = None if body is None else reader.exact(data[stop:], frame.tail)
    if body is None or tail is None:
        have, size = reader.offset - begin, sum(frame)
        reader.end_inside(begin, f"{framing.name}, after {have} of {size} bytes")
        return
    items: List[Item] = []
    framing.accept(Parts(data[:start], body, tail), begin, items)
    if items:
        yield reader.deliver(items)
