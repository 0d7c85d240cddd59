"""Download one range of one object, and check that it is exactly what was requested."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from smspec.local.feeder.objects import ChannelDataError, StoredObject, StoreUnavailable
from smspec.local.s3.client import asked
from smspec.local.s3.location import Location, parse

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")
_VERSION = re.compile(r"[!-~]{1,1024}")
_PARTIAL, _WHOLE = 206, 200


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
