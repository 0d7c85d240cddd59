"""Inotify, with which Linux reports what happens in directories."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

_HEAD = struct.Struct("iIII")
_READ = 1 << 16


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
