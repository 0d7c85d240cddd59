"""The source of a channel's objects: local files; the S3 store is outside of this package."""

import os
import stat
from typing import BinaryIO, Callable, Generator, Iterable, Iterator, List, Optional, Protocol, Tuple

from .objects import (
    ChannelDataError,
    Mirror,
    Part,
    StoredObject,
    object_at,
    objects_under,
    unreadable,
)
from .plan import FeederChannel

Content = Tuple[Part, Optional[Iterator[bytes]]]
"""A part and its bytes, in blocks; None if the part is bytes already, or a local file."""


class Store(Protocol):
    """The objects of one channel. Its methods raise ChannelDataError."""

    def objects(self) -> List[StoredObject]:
        """Return the objects of S3Prefix, keys sorted bytewise."""

    def has_objects(self) -> bool:
        """Return whether `objects` has any, without listing all of them."""

    def manifest(self) -> Tuple[str, BinaryIO]:
        """Return the name of the manifest, for messages, and the manifest, open at its start."""

    def stored(self, name: str, key: str) -> StoredObject:
        """Return the object for ``name`` in a manifest, a URI or a path relative to the manifest."""

    def contents(self, parts: Iterable[Part]) -> Generator[Content, None, None]:
        """Yield the parts with their bytes. The caller must read all blocks of one before the next."""


OpenStore = Callable[[FeederChannel], Store]


class LocalStore:
    """Local files and directories in place of objects and prefixes."""

    def __init__(self, channel: FeederChannel) -> None:
        self._source = channel.source
        self._manifest = _manifest_of(channel)
        self._mirror = Mirror(os.path.dirname(self._manifest), channel.uri)
        self._tops = channel.tops
        self._name = channel.name

    def objects(self) -> List[StoredObject]:
        """Return the files below the source, or the source itself."""
        return objects_under(self._source)

    def has_objects(self) -> bool:
        """Return whether there is a file."""
        return bool(self.objects())

    def manifest(self) -> Tuple[str, BinaryIO]:
        """Open the source or, if that is a directory, the file in it with the name of the object."""
        return self._manifest, _opened(self._manifest)

    def stored(self, name: str, key: str) -> StoredObject:
        """Return the file for an object."""
        path = self._mirror.path(name)
        if self._tops and not any(os.path.realpath(path).startswith(os.path.join(top, "")) for top in self._tops):
            raise ChannelDataError(
                "`{}` is outside the project; pass `--data {}={}` to trust the manifest".format(
                    name, self._name, self._source
                )
            )
        return object_at(key, path)

    def contents(self, parts: Iterable[Part]) -> Generator[Content, None, None]:
        """Yield the parts unchanged: files are read where they are fed."""
        return ((part, None) for part in parts)


def _manifest_of(channel: FeederChannel) -> str:
    if channel.s3_data_type != "S3Prefix" and os.path.isdir(channel.source):
        return os.path.join(channel.source, channel.uri.rpartition("/")[2])
    return channel.source


def _opened(path: str) -> BinaryIO:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ChannelDataError("`{}` is not a file".format(path))  # opening a FIFO would wait for its writer
        return open(path, "rb")
    except OSError as error:
        raise unreadable(path, error) from None
