"""Download objects in order while prefetching the next ones: many connections, little memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from smspec.local.feeder.objects import ChannelDataError, Content, Part, StoredObject, StoreUnavailable
from smspec.local.s3.client import CONNECTIONS, RANGE, asked
from smspec.local.s3.location import Location, parse

AHEAD = 64 << 20
"""Bytes that are requested and not yet passed on: of the next objects, and of the rest of the current one."""
_MOST_OBJECTS = 256
_LEAST = 1 << 16
_BLOCK = 1 << 18
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")
_VERSION = re.compile(r"[!-~]{1,1024}")
_PARTIAL, _WHOLE = 206, 200


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


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of an object, the size of the whole object, and its version; empty: it has none."""

    data: bytes
    total: int
    version: str


def fetch_range(client: Any, stored: StoredObject, offset: int, size: int, start: Range | None) -> Range:
    """Return up to ``size`` bytes from ``offset``.

    ``start`` is the beginning of the same object. Raise ChannelDataError.
    """
    location = parse(stored.path)
    assert location is not None  # `S3Store` has checked it
    expected = stored.size if start is None else start.total
    if expected == 0:
        return _empty(client, stored, location)  # there is no range to request
    with asked(stored.path):
        answer = _get(client, location, offset, size, start)
    if answer is None:
        return _empty(client, stored, location)
    found = _range(stored, answer, offset, size)
    if expected is not None and found.total != expected:
        raise StoreUnavailable(
            f"S3 sends `{stored.path}` with {found.total:,} bytes, but listed {expected:,}; it changed or was truncated"
        )
    if start is not None and found.version != start.version:
        raise ChannelDataError(f"`{stored.path}` changed while smspec was reading it")
    if found.total > len(found.data) + offset and not found.version:
        raise StoreUnavailable(f"S3 sends `{stored.path}` without an ETag, so parts might differ in version")
    return found


def _get(client: Any, location: Location, offset: int, size: int, start: Range | None) -> tuple[Any, bytes] | None:
    """Return a response and its body; None if S3 reports that there is no such range."""
    # A changed object must not be joined to the beginning of its previous version.
    same = {} if start is None else {"IfMatch": start.version}
    span = f"bytes={offset}-{offset + size - 1}"
    try:
        answer = client.get_object(Bucket=location.bucket, Key=location.key, Range=span, **same)
    except ClientError as fault:
        if offset == 0 and fault.response["ResponseMetadata"]["HTTPStatusCode"] == 416:
            return None
        raise
    return answer, answer["Body"].read()


def _empty(client: Any, stored: StoredObject, location: Location) -> Range:
    """Check that an object that is listed as empty, or has no first byte, is empty."""
    with asked(stored.path):
        data = client.get_object(Bucket=location.bucket, Key=location.key)["Body"].read()
    if stored.size == 0 and data:
        raise StoreUnavailable(f"S3 sends `{stored.path}` with {len(data):,} bytes, but listed 0; it changed")
    if data or stored.size:
        raise StoreUnavailable(f"S3 sends no range of `{stored.path}`, which is not empty")
    return Range(b"", 0, "")


def _range(stored: StoredObject, answer: tuple[Any, bytes], offset: int, size: int) -> Range:
    """Return the requested range. Raise StoreUnavailable for anything else."""
    response, data = answer
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    status = response["ResponseMetadata"]["HTTPStatusCode"]
    version = headers.get("etag", "")
    if version and not _VERSION.fullmatch(version):
        raise StoreUnavailable(f"S3 sends `{stored.path}` with a malformed ETag")
    match = _CONTENT_RANGE.fullmatch(headers.get("content-range", ""))
    if status == _WHOLE and "content-range" not in headers and offset == 0 and len(data) <= size:
        return Range(data, len(data), version)  # a server may send all of a small object
    if status != _PARTIAL or match is None:
        raise StoreUnavailable(f"S3 ignores the requested range of `{stored.path}`")
    first, last, total = map(int, match.groups())
    if (first, last) != (offset, min(offset + size, total) - 1) or len(data) != last - first + 1:
        raise StoreUnavailable(f"S3 sends {len(data):,} bytes for the range {first} to {last} of `{stored.path}`")
    return Range(data, total, version)
