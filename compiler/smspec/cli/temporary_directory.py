"""The temporary directory of a command, and those that commands left which were killed."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smspec.output.deferred_signals import signals_deferred
from smspec.source.deep_directories import remove_tree

PREFIX = "smspec-tmp-"
_PLACE = "d"
"""What is used lies one level below what is locked: a build locks the directory that it is written to, too."""


@contextmanager
def temporary_directory() -> Iterator[str]:
    """Make a directory that is gone afterwards, whatever signals come, and however many.

    SIGKILL leaves it behind. The next command removes it: the kernel has dropped the lock on it.
    """
    directory, lock = None, -1
    try:
        with signals_deferred():
            _remove_abandoned(tempfile.gettempdir())
            directory, lock = _locked_directory()
        place = os.path.join(directory, _PLACE)
        os.makedirs(place)
        yield place
    finally:
        with signals_deferred():
            if directory is not None:
                remove_tree(directory, ignore_errors=True)
            if lock >= 0:
                os.close(lock)


def _locked_directory() -> tuple[str, int]:
    """Make a directory and lock it. Another command may remove it in between, as one that was left behind."""
    while True:
        directory = tempfile.mkdtemp(prefix=PREFIX)
        try:
            lock = _opened(directory)
        except FileNotFoundError:
            continue
        with suppress(OSError):  # some file systems have no locks; there, nothing is removed that was left behind
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(directory) and os.path.samestat(os.stat(directory), os.fstat(lock)):
            return directory, lock
        os.close(lock)


def _remove_abandoned(parent: str) -> None:
    # Tidying up is a kindness: what cannot be listed, locked or removed stays.
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    if entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    lock = _opened(entry.path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)


def _opened(directory: str) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
