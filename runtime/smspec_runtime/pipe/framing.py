"""Cuts items in frames (records, tar members) out of the chunks that a reader gives."""

from abc import ABC, abstractmethod
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .reader import Reader

CARRY = 4096  # bytes of a frame that is joined to the next chunk; a larger one is read whole
RUN = 32  # frames of one size that are cut at once
HEADS = 4096  # that are remembered: most recur
NONE = 1 << 62  # no plain frame, as a length: beyond all data, so that nobody need ask

Parts = Tuple[bytes, bytes, bytes]  # header, payload, and what follows (checksum, padding)


class Framing(ABC):
    """Reads one stream of a format: says how long its frames are and makes items of them."""

    name: str
    head_size: int
    tail_size = 0
    multiple = 1  # of which frames are padded

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.items: List[Any] = []
        self.begin = 0  # offset in the epoch of the frame under way

    @abstractmethod
    def length(self, head: bytes) -> int:
        """Return the length of the payload. Raises ValueError."""

    @abstractmethod
    def accept(self, parts: Parts) -> None:
        """Append the items that this frame completes. Raises ValueError."""

    def finish(self) -> None:  # noqa: B027 - few have items of several frames
        """Raise Truncated if the last item lacks frames."""

    def plain(self, data: bytes, at: int) -> int:  # noqa: ARG002 - others need it
        """Append, fast, the items of frames that raise no question; return where another one begins."""
        return at

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[List[Any]]:
        """Yield lists of items as their data comes in. What came before a fault is yielded before it is raised."""
        data: Optional[bytes] = b""
        while data is not None:
            self.items = []
            try:
                data = self._advance(data)
            except ValueError as error:
                yield self.reader.deliver(self.items)
                raise self.reader.corrupt(self.begin, f"{self.name}: {error}") from error
            yield self.reader.deliver(self.items)

    def _advance(self, data: bytes) -> Optional[bytes]:
        """Read on after ``data``, with which a frame begins; return the begin of another one, None at the end."""
        reader = self.reader
        self.begin = reader.offset - len(data)
        if len(data) >= self.head_size:
            head, start, stop, end = self._measure(data, 0)
            if end > CARRY:  # the payload is read straight to where it stays
                body = reader.exact(data[start:stop], stop - start)
                tail = None if body is None else reader.exact(data[stop:], end - stop)
                if body is None or tail is None:
                    reader.end_inside(self.begin, f"{self.name}, after {reader.offset - self.begin} of {end} bytes")
                else:
                    self.accept((head, body, tail))
                return b""
        chunk = reader.chunk()
        if chunk is None:
            if data:
                reader.end_inside(self.begin, f"{self.name}, after {len(data)} bytes")
            self.finish()
            return None
        data += chunk
        begin, end = self.begin, 0
        while True:
            at = self.plain(data, end)
            self.begin = begin + at
            if len(data) - at < self.head_size:
                return data[at:]
            head, start, stop, end = self._measure(data, at)
            if end > len(data):
                return data[at:]
            self.accept((head, data[start:stop], data[stop:end]))

    def _measure(self, data: bytes, at: int) -> Tuple[bytes, int, int, int]:
        """Return the header, where the payload begins and ends, and where the frame ends."""
        start = at + self.head_size
        head = data[at:start]
        stop = start + self.length(head)
        return head, start, stop, stop + self.tail_size + self.multiple - 1 & -self.multiple


class Heads(Dict[bytes, int]):
    """Header → length of the payload of a plain frame, else `NONE`, as ``read`` tells."""

    def __init__(self, framing: Framing, read: Callable[[bytes], int]) -> None:
        self._sizes = framing.head_size, framing.tail_size + framing.multiple - 1, -framing.multiple
        self._read = read

    def __missing__(self, head: bytes) -> int:
        length = self._read(head) if len(head) == self._sizes[0] else NONE
        if len(self) < HEADS:
            self[head] = length
        return length

    def cut(self, data: bytes, at: int, payloads: List[bytes]) -> int:
        """Append the payloads of complete plain frames; return where they end."""
        size, rounding, mask = self._sizes
        append, end = payloads.append, len(data)
        while True:
            # If the frame a run ahead is like this one, those between may be as well.
            head = data[at : at + size]
            length = self[head]
            stride = size + length + rounding & mask
            last = at + (RUN - 1) * stride
            if last < end and data[last : last + size] == head:
                run = repeated(f"{size}s{length}s{stride - size - length}x", RUN)
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
def repeated(layout: str, count: int) -> Struct:
    return Struct("<" + layout * count)
