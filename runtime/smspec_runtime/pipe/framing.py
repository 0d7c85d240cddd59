"""Cuts frames (records, tar members) out of chunks."""

from abc import ABC, abstractmethod
from functools import lru_cache
from itertools import chain
from struct import Struct, error
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .reader import ROOM, Reader

RUN = 32  # frames of one size, cut at once
HEADS = 4096  # remembered: most recur
BEYOND = (1 << 62,) * 2  # behind all data


class Framing(ABC):
    name: str
    head_size: int
    tail_size = 0
    multiple = 1  # of which frames are padded

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.items: List[Any] = []
        self.begin = 0  # offset of this frame in the epoch

    @abstractmethod
    def length(self, head: bytes) -> int:
        """Return the length of the payload. Raises ValueError."""

    @abstractmethod
    def accept(self, head: bytes, body: bytes, tail: bytes) -> None:
        """Append the items that the frame completes. Raises ValueError."""

    def finish(self) -> None:  # noqa: B027
        """Raise Truncated if the last item lacks frames."""

    def plain(self, data: bytes, at: int) -> int:  # noqa: ARG002
        """Append items of plain frames, fast; return where they end."""
        return at

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[List[Any]]:
        """Yield lists of items, those before a fault too."""
        data: Optional[bytes] = b""
        while data is not None:
            self.items.clear()  # to reuse their memory
            try:
                data = self._advance(data)
            except ValueError as fault:
                yield self.reader.deliver(self.items)
                raise self.reader.corrupt(self.begin, f"{self.name}: {fault}") from None
            yield self.reader.deliver(self.items)

    def _advance(self, data: bytes) -> Optional[bytes]:
        """``data``: the begin of a frame. Return that of another one, None at the end."""
        reader = self.reader
        self.begin = reader.offset - len(data)
        if len(data) >= self.head_size:
            head, start, stop, end = self._measure(data, 0)
            if end > ROOM:  # read straight to where it stays
                body = reader.exact(data[start:stop], stop - start)
                tail = body and reader.exact(data[stop:], end - stop)
                if body is None or tail is None:
                    reader.end_inside(self.begin, f"{self.name}, after {reader.offset - self.begin} of {end} bytes")
                else:
                    self.accept(head, body, tail)
                return b""
        chunk = reader.after(data)
        if chunk is None:
            if data:
                reader.end_inside(self.begin, f"{self.name}, after {len(data)} bytes")
            self.finish()
            return None
        end = ROOM - len(data)  # of the frame before, so where this one begins
        begin = self.begin - end  # offset in the epoch of place 0
        data = chunk
        while True:
            at = self.plain(data, end)
            self.begin = begin + at
            if len(data) - at < self.head_size:
                return data[at:]
            head, start, stop, end = self._measure(data, at)
            if end > len(data):
                return data[at:]
            self.accept(head, data[start:stop], data[stop:end])

    def _measure(self, data: bytes, at: int) -> Tuple[bytes, int, int, int]:
        start = at + self.head_size
        head = data[at:start]
        stop, end = self.ends(self.length(head))
        return head, start, at + stop, at + end

    def ends(self, length: int) -> Tuple[int, int]:
        """Of payload and frame, from its begin on."""
        stop = self.head_size + length
        return stop, stop + self.tail_size + self.multiple - 1 & -self.multiple


class Heads(Dict[bytes, Tuple[int, int]]):
    """Header → the ends of a plain frame, from ``read``; of others, `BEYOND`."""

    def __init__(self, framing: Framing, read: Callable[[bytes], int]) -> None:
        self._framing, self._read = framing, read

    def __missing__(self, head: bytes) -> Tuple[int, int]:
        try:
            ends = self._framing.ends(self._read(head))
        except (ValueError, error):  # error: too short
            ends = BEYOND
        if len(self) < HEADS:
            self[head] = ends
        return ends

    def cut(self, data: bytes, at: int, payloads: List[bytes]) -> int:
        """As `Framing.plain`: payloads."""
        size, append, end = self._framing.head_size, payloads.append, len(data)
        while True:
            # If the last of a run has this header, the others may.
            head = data[at : at + size]
            stop, stride = self[head]
            count = min(RUN, (end - at) // stride)
            last = at + (count - 1) * stride
            if count > 1 and data[last : last + size] == head:
                run = repeated(f"{size}s{stop - size}s{stride - stop}x", count)
                while at + run.size <= end:
                    parts = run.unpack_from(data, at)
                    if parts[::2].count(head) < count:
                        break
                    payloads += parts[1::2]
                    at += run.size
            for _ in range(RUN):
                start = at + size
                stop, stride = self[data[at:start]]
                after = at + stride
                if after > end:
                    return at
                append(data[start : at + stop])
                at = after


@lru_cache(maxsize=64)
def repeated(layout: str, count: int) -> Struct:
    return Struct("<" + layout * count)
