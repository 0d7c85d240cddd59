"""The objects of a channel that are in S3."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable
from typing import Any, BinaryIO

from smspec.local.feeder.fault import DataError
from smspec.local.feeder.objects import Part, StoredObject
from smspec.local.feeder.plan import FeederChannel
from smspec.local.feeder.store import Content, LocalStore, Store
from smspec.local.s3.client import make_client, told
from smspec.local.s3.fetching import Fetching
from smspec.local.s3.location import Location, is_s3, parse

PAGE = 1000
"""Objects that one answer lists: as many as S3 gives."""

_MANIFEST_IN_MEMORY = 8 << 20


class S3Store:
    """Objects under a prefix, or those that a manifest names."""

    def __init__(self, channel: FeederChannel, client: Any) -> None:
        self._location = _location(channel.source)
        self._client = client
        self._fetching = Fetching(client)

    def objects(self) -> list[StoredObject]:
        """List the prefix. S3 lists keys in the order of their bytes."""
        found: list[StoredObject] = []
        with told(self._location.uri):
            for page in self._pages():
                found += [self._listed(item) for item in page.get("Contents", ()) if not _is_directory(item)]
        return found

    def has_objects(self) -> bool:
        """Tell whether anything lies under the prefix, without listing all of it."""
        with told(self._location.uri):
            items = (item for page in self._pages() for item in page.get("Contents", ()))
            return not all(map(_is_directory, items))

    def manifest(self) -> tuple[str, BinaryIO]:
        """Fetch the manifest into a file that nobody sees."""
        file: BinaryIO = tempfile.SpooledTemporaryFile(_MANIFEST_IN_MEMORY)  # type: ignore[assignment]  # it is one
        for block in self._fetching.read(StoredObject(self._location.key, self._location.uri, None)):
            file.write(block)
        file.seek(0)
        return self._location.uri, file

    def stored(self, name: str, key: str) -> StoredObject:
        """Return an object; that it exists shows when it is fetched."""
        above = self._location.uri.rpartition("/")[0]
        return StoredObject(key, _location(name if is_s3(name) else f"{above}/{name}").uri, None)

    def contents(self, parts: Iterable[Part]) -> Generator[Content, None, None]:
        """Yield the parts with their bytes, fetched ahead."""
        return self._fetching.contents(parts)

    def _pages(self) -> Any:
        pages = self._client.get_paginator("list_objects_v2")
        return pages.paginate(
            Bucket=self._location.bucket, Prefix=self._location.key, PaginationConfig={"PageSize": PAGE}
        )

    def _listed(self, item: Any) -> StoredObject:
        key = item["Key"]
        place = Location(self._location.bucket, key)
        return StoredObject(self._location.relative(key), place.uri, item["Size"])


def open_store(channel: FeederChannel) -> Store:
    """Return the store of a channel, whether its source is in S3 or here."""
    return S3Store(channel, make_client()) if is_s3(channel.source) else LocalStore(channel)


def _location(uri: str) -> Location:
    location = parse(uri)
    if location is None:
        raise DataError(f"`{uri}` names no bucket")
    return location


def _is_directory(item: Any) -> bool:
    """Tell whether an object is what consoles make of a directory: it has no bytes, and no name below it."""
    return bool(item["Size"] == 0 and item["Key"].endswith("/"))
