"""The contents of an existing output directory, and whether smspec may replace all of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from smspec.render.tree import MANIFEST, manifested_files

_LARGEST_MANIFEST = 64 << 20


def stranger(directory: str) -> str | None:
    """Return one path in a directory that no smspec manifest lists, or None: it is empty, or smspec wrote all of it.

    Raise FileNotFoundError if there is no such directory.
    """
    present = sorted(os.listdir(directory))
    if not present:
        return None
    listed = _manifested(directory)
    if listed is None:
        return present[0]  # without a look below: it may be a home directory, or the whole disk
    known = with_directories(listed)
    return min((path for path in paths(directory) if path not in known), default=None)


def with_directories(files: Iterable[str]) -> frozenset[str]:
    """Return the paths of files and of all directories above them."""
    known = set(files)
    return frozenset(known | {path[:at] for path in known for at, character in enumerate(path) if character == "/"})


def paths(directory: str) -> Iterator[str]:
    """Yield, with ``/``, the path of every file and empty directory below a directory; links are not followed."""
    with os.scandir(directory) as entries:
        for entry in entries:
            below = list(paths(entry.path)) if entry.is_dir(follow_symlinks=False) else []
            yield from (f"{entry.name}/{path}" for path in below) if below else (entry.name,)


def is_regular_file(path: str) -> bool:
    """Return whether there is a regular file, not a symbolic link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _manifested(directory: str) -> frozenset[str] | None:
    path = os.path.join(directory, MANIFEST)
    if not is_regular_file(path):
        return None
    with open(path, "rb") as file:
        return manifested_files(file.read(_LARGEST_MANIFEST))
