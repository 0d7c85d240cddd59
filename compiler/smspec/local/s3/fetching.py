"""Download objects in order while prefetching the next ones: many connections, little memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from smspec.local.feeder.objects import Part, StoredObject
from smspec.local.feeder.store import Content
from smspec.local.s3.client import CONNECTIONS, RANGE
from smspec.local.s3.ranges import Range, fetch_range

AHEAD = 64 << 20
"""Bytes that are requested and not yet passed on: of the next objects, and of the rest of the current one."""

_MOST_OBJECTS = 256
_LEAST = 1 << 16
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class _Coming:
    """A part that is being downloaded; ``reserved`` bytes are kept free for it."""

    part: Part
    first: Future[Range] | None
    reserved: int


class Fetching:
    """Downloads for one channel."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._typical = RANGE
        self._pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="fetch")

    def contents(self, parts: Iterable[Part]) -> Generator[Content, None, None]:
        """Yield the parts with their blocks; the caller must read all blocks of one before the next."""
        coming: deque[_Coming] = deque()
        rest = iter(parts)
        reserved = 0
        try:
            while True:
                while reserved < AHEAD and len(coming) < _MOST_OBJECTS:
                    part = next(rest, None)
                    if part is None:
                        break
                    coming.append(self._start(part))
                    reserved += coming[-1].reserved
                if not coming:
                    return
                present = coming.popleft()
                reserved -= present.reserved
                if isinstance(present.part, StoredObject):
                    yield present.part, self._blocks(present.part, present.first)
                else:
                    yield present.part, None
        finally:
            for one in coming:
                if one.first is not None:
                    one.first.cancel()

    def read(self, stored: StoredObject) -> Iterator[bytes]:
        """Yield the blocks of one object."""
        return self._blocks(stored, self._start(stored).first)

    def _start(self, part: Part) -> _Coming:
        if not isinstance(part, StoredObject):
            return _Coming(part, None, 0)
        size = min(self._typical if part.size is None else part.size, RANGE)
        return _Coming(part, self._pool.submit(self._fetch, part, 0, None), size)

    def _blocks(self, stored: StoredObject, first: Future[Range] | None) -> Iterator[bytes]:
        if first is None:
            return
        start = first.result()
        # Objects of unknown size, in manifests, are assumed to be as large as the largest of the last few.
        self._typical = max(len(start.data), self._typical // 2, _LEAST)
        yield from _cut(start.data)
        offsets = iter(range(len(start.data), start.total, RANGE))
        coming: deque[Future[Range]] = deque()
        try:
            while True:
                while len(coming) < AHEAD // RANGE:
                    offset = next(offsets, None)
                    if offset is None:
                        break
                    coming.append(self._pool.submit(self._fetch, stored, offset, start))
                if not coming:
                    return
                yield from _cut(coming.popleft().result().data)
        finally:
            for one in coming:
                one.cancel()

    def _fetch(self, stored: StoredObject, offset: int, start: Range | None) -> Range:
        return fetch_range(self._client, stored, offset, RANGE, start)


def _cut(data: bytes) -> Iterator[bytes]:
    """Yield pieces of the size of a FIFO, so that decompression and progress advance evenly."""
    if len(data) <= _BLOCK:
        yield data
        return
    for start in range(0, len(data), _BLOCK):
        yield data[start : start + _BLOCK]
