"""Inotify; and when and how often the hosts open the files of their channels while they run, as it notices."""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from smspec.local.running.events import Event

_HEAD = struct.Struct("iIII")
_READ = 1 << 16
_OPEN, _CLOSE = 0x20, 0x8 | 0x10
_OVERFLOW, _IS_DIRECTORY = 0x4000, 0x40000000
_MOST_DIRECTORIES, _MOST_FILES = 2_000, 200_000
_Key = tuple[str, str]
_Moment = tuple[float, float]
"""Seconds from the start of the hosts: not before the first number, and not after the second one."""


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
