"""Objects, and their files on this machine: below a directory, or at the target of an S3 URI; and their store.

The S3 store is outside of this package.

The texts of the exceptions for data that cannot be fed are for the author: lower case, no full stop.
"""

import errno
import os
import stat
from typing import BinaryIO, Callable, Generator, Iterable, Iterator, List, NamedTuple, Optional, Protocol, Tuple, Union

from .plan import FeederChannel

SCHEME = "s3://"
LONGEST_KEY = 1024
"""The maximum length of an S3 key in bytes."""
_Directory = Tuple[int, int]
"""Device and inode."""


class ChannelDataError(Exception):
    """The data of a channel are invalid."""


class StoreUnavailable(ChannelDataError):
    """The store of the data cannot be reached or denies access: the data themselves are not the reason."""


def unreadable(path: str, error: OSError) -> ChannelDataError:
    """Return the exception for a file that cannot be read."""
    return ChannelDataError("cannot read `{}`: {}".format(path, reason(error)))


def reason(error: OSError) -> str:
    """Return the message of the system, in lower case."""
    path = error.filename
    if error.errno == errno.ENOENT and path and os.path.islink(path):
        return "it is a link to `{}`, which does not exist".format(os.readlink(path))
    return (error.strerror or str(error)).lower()


class StoredObject(NamedTuple):
    """``key`` is relative to the prefix, with ``/``; a File channel shows the object under this name.

    ``path`` is a file, or an S3 URI. ``size`` None: known only after reading.
    """

    key: str
    path: str
    size: Optional[int]


Part = Union[StoredObject, bytes]
"""What is fed in one piece: an object, or the value of an attribute."""


def objects_under(source: str) -> List[StoredObject]:
    """Return the objects of ``source``, keys sorted bytewise as S3 lists them.

    A directory is a prefix, with all files at any depth; a file is the one object with its name. Symbolic links are
    followed.
    """
    try:
        status = os.stat(source)
    except OSError as error:
        raise unreadable(source, error) from None
    if not stat.S_ISDIR(status.st_mode):
        if not stat.S_ISREG(status.st_mode):
            raise ChannelDataError("`{}` is not a file or directory".format(source))
        return [StoredObject(os.path.basename(source), source, status.st_size)]
    objects = list(_walk(source, (status.st_dev, status.st_ino)))
    objects.sort(key=lambda entry: os.fsencode(entry.key))
    return objects


def _walk(source: str, first: _Directory) -> Iterator[StoredObject]:
    """Yield the files below a directory, however deep; a link to a parent directory is not followed again."""
    ahead: List[Tuple[str, str, Tuple[_Directory, ...]]] = [(source, "", (first,))]
    while ahead:
        directory, prefix, above = ahead.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError as error:
            raise unreadable(directory, error) from None
        for entry in entries:
            try:
                status = entry.stat()
            except OSError as error:
                raise unreadable(entry.path, error) from None
            key = prefix + entry.name
            if len(os.fsencode(key)) > LONGEST_KEY:
                raise ChannelDataError(
                    "`{}…` is longer than {:,} bytes, the maximum of an S3 key".format(key[:80], LONGEST_KEY)
                )
            if stat.S_ISREG(status.st_mode):
                yield StoredObject(key, entry.path, status.st_size)
            elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in above:
                ahead.append((entry.path, key + "/", (*above, (status.st_dev, status.st_ino))))


def object_at(key: str, path: str) -> StoredObject:
    """Return the object whose bytes are the file ``path``."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError:  # a null character, or a surrogate
        raise ChannelDataError("{} is not a file name".format(ascii(path))) from None
    if not stat.S_ISREG(status.st_mode):
        raise ChannelDataError("`{}` is not a file".format(path))
    return StoredObject(key, path, status.st_size)


class Mirror(NamedTuple):
    """Finds the local files for S3 URIs in a manifest.

    ``directory`` contains the manifest, ``uri`` is the manifest's own. What is next to the manifest in S3 is next to it
    here; everything else is ``<directory>/<bucket>/<key>``. Anything except an S3 URI is a path relative to
    ``directory``.
    """

    directory: str
    uri: str

    def path(self, name: str) -> str:
        """Return the file for ``name``, an S3 URI or a path."""
        if not name.startswith(SCHEME):
            return os.path.join(self.directory, name)
        candidates = []
        beside = self.uri.rpartition("/")[0] + "/"
        if self.uri.startswith(SCHEME) and name.startswith(beside):
            candidates.append(os.path.join(self.directory, name[len(beside) :]))
        candidates.append(os.path.join(self.directory, name[len(SCHEME) :]))
        for candidate in candidates:
            if os.path.exists(candidate):
                return candidate
        raise ChannelDataError(
            "no local file for `{}`: looked for {}".format(name, " and ".join(map("`{}`".format, candidates)))
        )


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
