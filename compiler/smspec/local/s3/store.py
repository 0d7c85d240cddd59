"""The objects of a channel that are in S3, and the feeder with them."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Generator, Iterable
from typing import Any, BinaryIO, NoReturn

from smspec.local.feeder import program
from smspec.local.feeder.objects import (
    LONGEST_KEY,
    ChannelDataError,
    Content,
    LocalStore,
    Part,
    Store,
    StoredObject,
    StoreUnavailable,
)
from smspec.local.feeder.plan import FeederChannel
from smspec.local.s3 import Location, is_key, is_s3, parse
from smspec.local.s3.fetching import Fetching, make_client, pages

_MANIFEST_IN_MEMORY = 8 << 20


class S3Store:
    """Objects under a prefix, or those in a manifest."""

    def __init__(self, channel: FeederChannel, client: Any) -> None:
        self._location = _location(channel.source)
        self._client = client
        self._fetching = Fetching(client)

    def objects(self) -> list[StoredObject]:
        """List the prefix, keys sorted bytewise, as S3 lists them in most buckets."""
        found = [stored for page in pages(self._client, self._location) for stored in page]
        found.sort(key=lambda stored: stored.path.encode())
        for before, after in itertools.pairwise(found):
            if before.path == after.path:
                raise StoreUnavailable(f"S3 lists `{after.path}` twice")
        return found

    def has_objects(self) -> bool:
        """Return whether there is any object under the prefix, without listing all of it."""
        return any(pages(self._client, self._location))

    def manifest(self) -> tuple[str, BinaryIO]:
        """Download the manifest to an unnamed file."""
        file: BinaryIO = tempfile.SpooledTemporaryFile(_MANIFEST_IN_MEMORY)  # type: ignore[assignment]  # it is one
        for block in self._fetching.read(StoredObject(self._location.key, self._location.uri, None)):
            file.write(block)
        file.seek(0)
        return self._location.uri, file

    def stored(self, name: str, key: str) -> StoredObject:
        """Return an object; a missing one is reported when it is downloaded."""
        above = self._location.uri.rpartition("/")[0]
        return StoredObject(key, _location(name if is_s3(name) else f"{above}/{name}").uri, None)

    def contents(self, parts: Iterable[Part]) -> Generator[Content, None, None]:
        """Yield the parts with their bytes, prefetched."""
        return self._fetching.contents(parts)


def open_store(channel: FeederChannel) -> Store:
    """Return the store of a channel, whether its source is in S3 or local."""
    return S3Store(channel, make_client()) if is_s3(channel.source) else LocalStore(channel)


def _location(uri: str) -> Location:
    location = parse(uri)
    if location is None:
        raise ChannelDataError(f"`{uri}` has no bucket")
    if not is_key(location.key):
        raise ChannelDataError(f"`{uri}` is not an object URI: a key has at most {LONGEST_KEY:,} bytes of UTF-8")
    return location


def main(arguments: list[str]) -> NoReturn:
    """Feed the channels of the plan, also from S3. ``arguments``: those of the feeder's own program."""
    program.main(arguments, open_store)
