"""Telling "there is no such file" from "the disk rejects": the first is the author's fault, the second nobody's."""

from __future__ import annotations

import errno
import os
import stat

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL})


def is_missing(fault: OSError | ValueError) -> bool:
    """Return whether a path names nothing; a ValueError is a name that no file can have (NUL, or not in the locale)."""
    return isinstance(fault, ValueError) or fault.errno in _ABSENT


def is_file(path: str) -> bool:
    """Return whether ``path`` leads to a regular file. Raises OSError when that cannot be told."""
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)


def is_directory(path: str) -> bool:
    """Return whether ``path`` leads to a directory. Raises OSError when that cannot be told."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def told_of(path: str, written: str, what: str = "") -> str:
    """Say of a path, ``written`` so, that it leads to no ``what``: a link may be there, and what it names not."""
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
