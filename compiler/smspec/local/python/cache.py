"""Cached environments: one directory per key, created once, under a lock, completely or not at all."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack

from smspec.local.running.request import RunFailed
from smspec.source.real_file import remove_tree, walked
from smspec.workspace.own_directories import (
    VARIABLE,
    cache_directory,
    existing_cache,
    make_private,
    open_cache,
    require_safe_entry,
)

_NAME = "environments"
_COMPLETE = "complete.json"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class EnvironmentCache:
    """Environments by key. Those in use stay locked, shared with other runs, until `close`."""

    def __init__(self) -> None:
        self._root = os.path.join(cache_directory(), _NAME)
        self._safe: set[str] = set()
        self._trusted: set[str] = set()
        self._held = ExitStack()

    def __enter__(self) -> EnvironmentCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def trust(self, interpreter: str) -> None:
        """Let environments have links to an interpreter, also to one of a different user: this run starts it anyway."""
        self._trusted.add(os.path.realpath(interpreter))

    def path(self, key: str) -> str:
        return os.path.join(self._root, key)

    def has(self, key: str) -> bool:
        """Return whether an environment exists and is complete. Raise UnsafeCache if others can change it."""
        path = self.path(key)
        if key not in self._safe:
            if existing_cache(_NAME) is None or not os.path.isfile(os.path.join(path, _COMPLETE)):
                return False
            require_safe_entry(path, self._trusted)
            self._safe.add(key)
        return os.path.isfile(os.path.join(path, _COMPLETE))

    def hold(self, key: str, make: Callable[[str, int], None], wait: Callable[[], None]) -> str:
        """Return the directory of an environment, which ``make`` fills if it does not exist.

        ``make`` gets the directory, and the lock: a process that writes there holds it too, so that the environment is
        not created a second time before that process has ended. ``wait`` is called while another run is creating it.
        After a failure, the incomplete environment is removed, by this run or by the next one.
        """
        path = self.path(key)
        lock = self._locked(key, fcntl.LOCK_SH, wait)
        if not self.has(key):
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)
            lock = self._locked(key, fcntl.LOCK_EX, wait)
            with ExitStack() as undo:
                undo.callback(os.close, lock)
                if not self.has(key):
                    self._make(path, lock, make)
                undo.pop_all()
            fcntl.flock(lock, fcntl.LOCK_SH)
        self._held.callback(os.close, lock)
        return path

    def _make(self, path: str, lock: int, make: Callable[[str, int], None]) -> None:
        if os.path.lexists(path):
            remove_tree(path)
        with ExitStack() as undo:
            undo.callback(remove_tree, path, ignore_errors=True)
            try:
                os.makedirs(path, 0o700)
                make(path, lock)
                make_private(path)
                _protect(path)
                unfinished = os.path.join(path, f"{_COMPLETE}.part")
                with open(unfinished, "w", encoding="utf-8") as file:
                    json.dump({"format": 1}, file)
                os.chmod(unfinished, 0o644)
                os.rename(unfinished, os.path.join(path, _COMPLETE))
            except OSError as fault:
                if fault.errno in _NO_ROOM:
                    raise self._unusable(fault) from None
                raise
            undo.pop_all()

    def _unusable(self, fault: OSError) -> RunFailed:
        reason = (fault.strerror or str(fault)).lower()
        return RunFailed(
            3, f"cannot write Python environments to `{self._root}`: {reason}; set {VARIABLE} to a different directory"
        )

    def _locked(self, key: str, kind: int, wait: Callable[[], None]) -> int:
        name = os.path.join(self._root, f"{key}.lock")
        while True:
            try:
                open_cache(_NAME)
                lock = _opened(name, kind)
            except OSError as fault:
                raise self._unusable(fault) from None
            with ExitStack() as undo:
                undo.callback(os.close, lock)
                try:
                    fcntl.flock(lock, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    if kind == fcntl.LOCK_SH and self.has(key):
                        # A reader of a shared cache can lock it for ever, and a complete one is not written to.
                        undo.pop_all()
                        return lock
                    wait()
                    fcntl.flock(lock, kind)
                # The cache may have been emptied meanwhile.
                if os.path.exists(name) and os.path.samestat(os.stat(name), os.fstat(lock)):
                    undo.pop_all()
                    return lock


def _opened(name: str, kind: int) -> int:
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        # In a cache of root that is shared, users may only read.
        if kind != fcntl.LOCK_SH or not os.path.exists(name):
            raise
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _protect(root: str) -> None:
    """Remove write permission from files, not from directories: `rm -r` still removes them without a question."""
    for directory, _, names in walked(root):
        for name in names:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) & ~0o222)
