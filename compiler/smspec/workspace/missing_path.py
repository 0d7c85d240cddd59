"""Distinguish a missing file, which is the author's error, from a disk that fails."""

from __future__ import annotations

import errno
import os
import stat

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL})


def is_missing(fault: OSError | ValueError) -> bool:
    """Return whether a path does not exist; ValueError: no file can have the name (NUL, or not in the locale)."""
    return isinstance(fault, ValueError) or fault.errno in _ABSENT


def is_file(path: str) -> bool:
    """Return whether ``path`` leads to a regular file. Raise OSError if that is unknown."""
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)


def is_directory(path: str) -> bool:
    """Return whether ``path`` leads to a directory. Raise OSError if that is unknown."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def not_found(path: str, written: str, what: str = "") -> str:
    """Return a message that a path, ``written`` so, leads to no ``what``; mention a dangling symlink."""
    link = path.rstrip("/")
    if os.path.islink(link) and not os.path.exists(link):
        return f"`{written}` is a link to `{os.readlink(link)}`, which does not exist"
    return f"cannot find {what} `{written}`" if what else f"cannot find `{written}`"


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as fault:
        if is_missing(fault):
            return None
        raise
