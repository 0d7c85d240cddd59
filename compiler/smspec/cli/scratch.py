"""The temporary directory of a command, and those that commands left which were killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smspec.output.shelter import sheltered

PREFIX = "smspec-run-"
_LOCK = "lock"
_YOUNG_SECONDS = 3600.0
"""A directory without a lock may be one that another command is just making."""


@contextmanager
def scratch_directory() -> Iterator[str]:
    """Make a directory that is gone afterwards, whatever signals come, and however many.

    SIGKILL leaves it behind. Whoever comes next removes it: the kernel has dropped the lock in it.
    """
    directory, lock = None, -1
    try:
        with sheltered():
            _remove_abandoned(tempfile.gettempdir())
            directory = tempfile.mkdtemp(prefix=PREFIX)
            lock = os.open(os.path.join(directory, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory
    finally:
        with sheltered():
            if directory is not None:
                shutil.rmtree(directory, ignore_errors=True)
            if lock >= 0:
                os.close(lock)


def _remove_abandoned(parent: str) -> None:
    # Tidying up is a kindness: what cannot be listed, locked or removed stays.
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False) and _is_abandoned(entry):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    if status.st_uid != os.getuid():
        return False
    try:
        lock = os.open(os.path.join(entry.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - status.st_mtime > _YOUNG_SECONDS
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
