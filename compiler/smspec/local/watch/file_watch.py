"""The files of the hosts while they run: how often they open those of channels, and what they write as checkpoints.

Both are seen by inotify on Linux. Elsewhere checkpoints are looked at again and again, and reading is not seen.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from smspec.local.running.events import CheckpointChanged, Event
from smspec.source.deep_directories import ignore_unread, walked

_HEAD = struct.Struct("iIII")
_READ = 1 << 16
_OPEN, _CLOSE = 0x20, 0x8 | 0x10
_OVERFLOW, _IS_DIRECTORY = 0x4000, 0x40000000
_MOST_DIRECTORIES, _MOST_FILES = 2_000, 200_000
_Key = tuple[str, str]
_Moment = tuple[float, float]
"""Seconds from the start of the hosts: not before the first number, and not after the second one."""

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


@dataclass(slots=True)
class Opened:
    """How often files of a channel were opened; ``first``, and when one was ``last`` opened or closed.

    ``passes``: the bytes of the opened files, each time counted, as a multiple of all ``size`` bytes of the channel.
    """

    size: int = 0
    count: int = 0
    bytes: int = 0
    first: _Moment = (0.0, 0.0)
    last: _Moment = (0.0, 0.0)

    @property
    def passes(self) -> float:
        return self.bytes / self.size if self.size else 0.0


class ReadWatch:
    """Listens to a run, and looks at each of its ticks. ``places``: (host, channel) → the directory of the channel."""

    def __init__(self, places: Mapping[_Key, str], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._looked = 0.0
        self._watched: dict[int, tuple[_Key, dict[str, int]]] = {}
        self._opened: dict[_Key, Opened] = {}
        self._descriptor: int | None = None
        inotify = open_inotify() if places else None
        if inotify is not None:
            self._descriptor, self._add = inotify
            try:
                for key, place in places.items():
                    self._watch(key, place)
            except OSError:
                self._give_up()

    def begin(self) -> None:
        """Count the time from now on."""
        self._start, self._looked = self._clock(), 0.0

    def report(self, event: Event) -> None:
        """Do nothing: files are not reported as events."""

    def tick(self) -> None:
        """Note what was opened and closed since the last call."""
        if self._descriptor is None:
            return
        moment = self._looked, self._clock() - self._start
        for event in inotify_events(self._descriptor):
            if event.mask & _OVERFLOW:
                self._give_up()
                return
            if event.watch not in self._watched or event.mask & _IS_DIRECTORY:
                continue
            key, sizes = self._watched[event.watch]
            size = sizes.get(event.name)
            if size is None:
                continue  # a file that the script has written there
            opened = self._opened[key]
            if event.mask & _OPEN:
                opened.first = opened.first if opened.count else moment
                opened.count += 1
                opened.bytes += size
            opened.last = moment
        self._looked = moment[1]

    def close(self) -> dict[_Key, Opened]:
        """Stop watching; return what is known of each channel that was watched to the end."""
        self.tick()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        return self._opened

    def _watch(self, key: _Key, place: str) -> None:
        """Watch a directory and those below it."""
        opened = self._opened[key] = Opened()
        ahead = [place]
        while ahead:
            directory = ahead.pop()
            number = self._add(os.fsencode(directory), _OPEN | _CLOSE)
            if number < 0 or len(self._watched) >= _MOST_DIRECTORIES:
                raise OSError(f"cannot watch {directory}")
            sizes: dict[str, int] = {}
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        ahead.append(entry.path)
                    else:
                        sizes[entry.name] = entry.stat().st_size
            self._watched[number] = key, sizes
            opened.size += sum(sizes.values())
            if sum(len(known) for _, known in self._watched.values()) > _MOST_FILES:
                raise OSError("too many files")

    def _give_up(self) -> None:
        """Forget everything: a part of what happened is unknown."""
        self._opened.clear()
        self._watched.clear()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


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
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

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
