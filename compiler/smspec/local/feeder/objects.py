"""Objects, and what stands for them on this machine: files under a directory, and where an S3 URI leads."""

import os
import stat
from typing import Iterator, List, NamedTuple, Optional, Tuple, Union

from .fault import ChannelDataError, unreadable

SCHEME = "s3://"
LONGEST_KEY = 1024
"""Bytes of a key in S3."""

_Directory = Tuple[int, int]
"""Device and inode."""


class StoredObject(NamedTuple):
    """``key`` is relative to the prefix, with ``/``; a File channel shows the object under this name.

    ``path`` is a file, or an S3 URI. ``size`` None: known only when it is read.
    """

    key: str
    path: str
    size: Optional[int]


Part = Union[StoredObject, bytes]
"""What is fed in one piece: an object, or the value of an attribute."""


def objects_under(source: str) -> List[StoredObject]:
    """Return the objects that ``source`` stands for, keys sorted bytewise as S3 lists them.

    A directory stands for a prefix, with all files at any depth; a file for the one object that has its name.
    Symbolic links are followed.
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
    """Yield the files below a directory, however deep; a link to a directory above it is not followed again."""
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
    except ValueError:  # a null character, or half of one of two
        raise ChannelDataError("{} is not a file name".format(ascii(path))) from None
    if not stat.S_ISREG(status.st_mode):
        raise ChannelDataError("`{}` is not a file".format(path))
    return StoredObject(key, path, status.st_size)


class Mirror(NamedTuple):
    """Finds the files that S3 URIs in a manifest stand for.

    ``directory`` holds the manifest, ``uri`` is the manifest's own. What lies beside the manifest in S3 lies beside it
    here; anything else is looked for under ``<directory>/<bucket>/<key>``. What is no S3 URI is a path relative to
    ``directory``.
    """

    directory: str
    uri: str

    def path(self, name: str) -> str:
        """Return the file that ``name``, an S3 URI or a path, stands for."""
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
