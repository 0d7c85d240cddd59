"""Replace a directory by a finished one in one step."""

from __future__ import annotations

import ctypes
import errno
import os

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def put_in_place(finished: str, directory: str) -> None:
    """Rename ``finished`` to ``directory``; the previous one then has the name ``finished``, or is removed if empty.

    Linux swaps the two names at once (renameat2, RENAME_EXCHANGE). Where that is not available, there is a moment
    between two renames in which neither the old directory nor the new one has the name.
    """
    try:
        os.rename(finished, directory)  # there is no such directory, or an empty one
    except OSError as fault:
        if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not _exchange(finished, directory):
            aside = f"{finished}.old"
            os.rename(directory, aside)
            try:
                os.rename(finished, directory)
            except OSError:
                os.rename(aside, directory)
                raise
            os.rename(aside, finished)


def _exchange(one: str, other: str) -> bool:
    """Swap two names and return True, or return False where the system or the file system cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_HERE:
        return False
    raise OSError(code, os.strerror(code), other)
