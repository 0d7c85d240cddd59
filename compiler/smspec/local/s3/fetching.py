"""The S3 client, its errors as sentences: list the objects under a prefix, and download them in order.

The next objects are prefetched: many connections, little memory. Each page of a list must belong to the requested list.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from botocore.config import Config
from botocore.exceptions import ClientError

from smspec.local.feeder.objects import ChannelDataError, Content, Part, StoredObject, StoreUnavailable
from smspec.local.s3 import Location, is_key, parse
from smspec.source.frozen import dataclass
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

Answer = TypeVar("Answer")

AHEAD = 64 << 20
"""Bytes that are requested and not yet passed on: of the next objects, and of the rest of the current one."""

_MOST_OBJECTS = 256
_LEAST = 1 << 16
_BLOCK = 1 << 18
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")
_VERSION = re.compile(r"[!-~]{1,1024}")
_PARTIAL, _WHOLE = 206, 200

CONNECTIONS = 32
RANGE = 8 << 20
"""Bytes of one request. An object of up to this size is downloaded in one."""

_SLACK = 1 << 16
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "S3_ENDPOINT_URL", "AWS_ENDPOINT_URL")
_ANY_REGION = "us-east-1"  # S3 returns the real region of a bucket, and botocore follows
_DATA_FAULTS = {
    "NoSuchBucket": "the bucket of `{}` does not exist",
    "NoSuchKey": "`{}` does not exist",
    "404": "`{}` does not exist",
    "NotFound": "`{}` does not exist",
    "PreconditionFailed": "`{}` changed while smspec was reading it",
    "412": "`{}` changed while smspec was reading it",
    "InvalidBucketName": "`{}` has no valid bucket name",
    "InvalidObjectState": "`{}` is archived; restore it first",
}
PAGE = 1000
"""Objects in one response: the limit of S3."""

MOST_PAGES = 50_000
_MOST_EMPTY_PAGES = 100


def make_client() -> Any:
    """Return a client configured as the AWS CLI does it: from environment, profile, or role of this machine."""
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    with asked("S3"):
        aws = AwsSession(largest=RANGE + _SLACK, connections=CONNECTIONS, of_job=False)
        return aws.client(
            "s3",
            region_name=aws.session.region_name or _ANY_REGION,
            endpoint_url=endpoint,
            # Servers other than AWS's seldom have a host name for each bucket.
            config=Config(s3={"addressing_style": "path"} if endpoint else {}),
        )


@contextmanager
def asked(uri: str) -> Iterator[None]:
    """Convert what boto3 raises about ``uri`` to ChannelDataError for invalid data, or StoreUnavailable."""
    try:
        with responses(f"read `{uri}`"):
            yield
    except Unsendable:
        raise ChannelDataError(f"`{uri}` has no valid bucket name") from None
    except AwsRefused as refusal:
        if refusal.code in _DATA_FAULTS:
            raise ChannelDataError(_DATA_FAULTS[refusal.code].format(uri)) from None
        raise StoreUnavailable(f"S3 rejects the request for `{uri}`: {refusal}") from None
    except WireFault as fault:
        raise StoreUnavailable(str(fault)) from None


def pages(client: Any, location: Location) -> Iterator[list[StoredObject]]:
    """Yield the objects of each page that has any. Raise ChannelDataError."""
    token: str | None = None
    seen: set[str] = set()
    begun: set[str] = set()
    empty = 0
    while True:
        going_on = {} if token is None else {"ContinuationToken": token}
        with asked(location.uri):
            page = client.list_objects_v2(Bucket=location.bucket, Prefix=location.key, MaxKeys=PAGE, **going_on)
        items = page.get("Contents", [])
        if not isinstance(page.get("IsTruncated"), bool) or page.get("KeyCount", len(items)) != len(items):
            raise _strange(location)
        found = [_listed(item, location) for item in items if not _is_directory(item)]
        if found and found[0].path in begun:
            raise StoreUnavailable(f"S3 keeps listing `{found[0].path}`")
        if found:
            begun.add(found[0].path)
            yield found
        if not page["IsTruncated"]:
            return
        token = page.get("NextContinuationToken")
        empty = 0 if items else empty + 1
        if not token or token in seen or empty > _MOST_EMPTY_PAGES or len(seen) > MOST_PAGES:
            raise StoreUnavailable(f"the S3 listing of `{location.uri}` does not end")
        seen.add(token)


def _listed(item: Any, location: Location) -> StoredObject:
    key, size = item.get("Key"), item.get("Size")
    is_fit = isinstance(key, str) and key.startswith(location.key) and key and is_key(key)
    if not is_fit or not isinstance(size, int) or size < 0:
        raise _strange(location)
    return StoredObject(location.relative(key), Location(location.bucket, key).uri, size)


def _is_directory(item: Any) -> bool:
    """Return whether an object is a directory marker of a console: it has no bytes, and a name that ends in a slash."""
    return item.get("Size") == 0 and str(item.get("Key")).endswith("/")


def _strange(location: Location) -> StoreUnavailable:
    return StoreUnavailable(f"S3 responds with a listing other than that of `{location.uri}`")


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

    def submit(self, ask: Callable[[str], Answer], path: str) -> Future[Answer]:
        """Ask something about an object on one of the connections."""
        return self._pool.submit(ask, path)

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
