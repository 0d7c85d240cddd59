"""What hosts write to their checkpoint directories while they run: with inotify on Linux, else by looking again."""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from smspec.local.running.events import CheckpointChanged
from smspec.source.real_file import ignore_unread, walked

_HEAD = struct.Struct("iIII")
_READ = 1 << 16
_IS_DIRECTORY = 0x40000000
_CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
_ONLY_DIRECTORIES, _NO_LINKS = 0x01000000, 0x02000000
_CHANGES = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_DIRECTORIES | _NO_LINKS

_State = tuple[int, int, int]
"""The inode, the time of change, and the size of a file."""


class InotifyEvent(NamedTuple):
    """An event of ``watch``; ``name`` is empty for its directory itself."""

    watch: int
    mask: int
    cookie: int
    name: str


def inotify_events(descriptor: int) -> Iterator[InotifyEvent]:
    """Yield what has happened since the last call."""
    while True:
        try:
            data = os.read(descriptor, _READ)
        except BlockingIOError:
            return
        offset = 0
        while offset < len(data):
            watch, mask, cookie, length = _HEAD.unpack_from(data, offset)
            start = offset + _HEAD.size
            name = os.fsdecode(data[start : start + length].rstrip(b"\0"))
            offset = start + length
            yield InotifyEvent(watch, mask, cookie, name)


def open_inotify() -> tuple[int, Callable[[bytes, int], int]] | None:
    """Return a descriptor of inotify and a function that adds a watch to it, or None if there is none."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # imported late: only a run that watches needs it

    try:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return None
    if descriptor < 0:
        return None

    def add(path: bytes, mask: int) -> int:
        number: int = library.inotify_add_watch(descriptor, path, mask)
        if number < 0 and ctypes.get_errno() == errno.ENOSPC:
            raise OSError(errno.ENOSPC, "too many watched directories: raise fs.inotify.max_user_watches")
        return number

    return descriptor, add


class CheckpointWatch:
    """Watches the checkpoint directory of each host: host → path. ``descriptor`` is None where there is no inotify."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._states: dict[str, _State] = {path: state for root in places.values() for path, state in _files(root)}
        self._watched: dict[int, str] = {}
        self._moved: dict[int, str] = {}
        inotify = open_inotify()
        self.descriptor: int | None = None
        if inotify is not None:
            self.descriptor, self._add = inotify
            for root in places.values():
                list(self._watch(root))

    def changes(self) -> Iterator[CheckpointChanged]:
        """Yield what changed since the last call, in order."""
        if self.descriptor is None:
            yield from self._looked()
            return
        for event in inotify_events(self.descriptor):
            if event.watch in self._watched and event.name:
                path = os.path.join(self._watched[event.watch], event.name)
                yield from self._noticed(path, event.mask, event.cookie)

    def close(self) -> None:
        """Stop watching."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _noticed(self, path: str, mask: int, cookie: int) -> Iterator[CheckpointChanged]:
        if mask & _MOVED_FROM:
            self._moved[cookie] = path
            self._states.pop(path, None)
        elif mask & _MOVED_TO:
            source = self._moved.pop(cookie, None)
            self._states[path] = _state(path) or (0, 0, 0)
            yield self._changed(path, "renamed", source)
        elif mask & _DELETE and not mask & _IS_DIRECTORY:
            self._states.pop(path, None)
            yield self._changed(path, "removed")
        elif mask & _CLOSE_WRITE:
            yield from self._written(path)
        if mask & _IS_DIRECTORY and mask & _CREATE:
            yield from self._watch(path)
        elif mask & _IS_DIRECTORY and mask & _MOVED_TO:
            self._rename(path)

    def _rename(self, root: str) -> None:
        """Know a directory and those below it by their new names; a second watch of a directory is the first one."""
        for path, _, _ in walked(root, ignore_unread):
            number = self._add(os.fsencode(path), _CHANGES)
            if number >= 0:
                self._watched[number] = path

    def _watch(self, root: str) -> Iterator[CheckpointChanged]:
        """Watch a directory and those below it; yield what was written there before."""
        directories = [root]
        while directories:
            path = directories.pop()
            number = self._add(os.fsencode(path), _CHANGES)
            if number < 0:
                continue
            self._watched[number] = path
            with suppress(OSError), os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(entry.path)
                    else:
                        yield from self._written(entry.path)

    def _written(self, path: str) -> Iterator[CheckpointChanged]:
        """Yield that a file was written, unless that is known: a directory is searched when its watch begins.

        By now it may be gone, such as a temporary file that was renamed.
        """
        state = _state(path)
        if state is None or self._states.get(path) != state:
            if state is not None:
                self._states[path] = state
            yield self._changed(path, "written")

    def _looked(self) -> Iterator[CheckpointChanged]:
        found = {path: state for root in self._places.values() for path, state in _files(root)}
        before, self._states = self._states, found
        for path in sorted(found, key=lambda path: found[path][1]):
            if before.get(path) != found[path]:
                is_new = path in before and before[path][0] != found[path][0]
                yield self._changed(path, "renamed" if is_new else "written")
        for path in before.keys() - found.keys():
            yield self._changed(path, "removed")

    def _changed(self, path: str, kind: str, source: str | None = None) -> CheckpointChanged:
        host, root = next((host, root) for host, root in self._places.items() if f"{path}/".startswith(f"{root}/"))
        return CheckpointChanged(
            host=host,
            path=os.path.relpath(path, root),
            kind=kind,
            source=None if source is None else os.path.relpath(source, root),
            moment=time.monotonic(),
        )


def _state(path: str) -> _State | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _files(root: str) -> Iterator[tuple[str, _State]]:
    for directory, _, names in walked(root, ignore_unread):
        for name in names:
            path = os.path.join(directory, name)
            state = _state(path)
            if state is not None:
                yield path, state
