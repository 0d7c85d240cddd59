"""List the objects under a prefix page by page, checking that each page belongs to the requested list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smspec.local.feeder.objects import StoredObject, StoreUnavailable
from smspec.local.s3.client import asked
from smspec.local.s3.location import Location, is_key

PAGE = 1000
"""Objects in one response: the limit of S3."""

MOST_PAGES = 50_000
_MOST_EMPTY_PAGES = 100


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
