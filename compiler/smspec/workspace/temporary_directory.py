"""The temporary directory of a command, and the cleanup of those that killed commands left behind."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from smspec.source.real_file import remove_tree
from smspec.workspace.deferred_signals import signals_deferred

PREFIX = "smspec-tmp-"
_PLACE = "d"
"""The directory in use is one level below the locked one: a build also locks the directory that it is written to."""


@contextmanager
def temporary_directory(parent: str | None = None, prefix: str = PREFIX) -> Iterator[str]:
    """Create a directory and remove it afterwards, whatever signals come; within `signals_interrupt`, however many.

    ``parent``: the directory around it, that of the system by default. ``prefix``: how names of such directories begin.

    SIGKILL leaves it behind. The next command removes it: the kernel has released its lock.
    """
    made: list[tuple[str, int]] = []
    try:
        try:
            with signals_deferred():
                _remove_abandoned(parent or tempfile.gettempdir(), prefix)
                made.append(_locked_directory(parent, prefix))
            place = os.path.join(made[0][0], _PLACE)
            os.makedirs(place)
            yield place
        finally:
            _remove(made)
    finally:
        _remove(made)  # again: a signal may have interrupted the first call before it deferred signals


def _remove(made: list[tuple[str, int]]) -> None:
    with signals_deferred():
        while made:
            directory, lock = made[-1]
            remove_tree(directory, ignore_errors=True)
            made.pop()
            os.close(lock)


def _locked_directory(parent: str | None, prefix: str) -> tuple[str, int]:
    """Create a directory and lock it. A different command may remove it in between, taking it for an abandoned one."""
    while True:
        directory = tempfile.mkdtemp(prefix=prefix, dir=parent)
        try:
            lock = _opened(directory)
        except FileNotFoundError:
            continue
        with suppress(OSError):  # some file systems have no locks; abandoned directories are not removed there
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(directory) and os.path.samestat(os.stat(directory), os.fstat(lock)):
            return directory, lock
        os.close(lock)


def _remove_abandoned(parent: str, prefix: str) -> None:
    # Cleanup is optional: what cannot be listed, locked, or removed stays.
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
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
