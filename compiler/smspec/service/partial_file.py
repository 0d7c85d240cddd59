"""A file elsewhere of which only the parts that are read are fetched, such as the directory of an archive."""

from __future__ import annotations

import io
from collections.abc import Callable


class PartialFile(io.RawIOBase):
    """A file with ``size`` bytes whose ``ending`` is known; ``part`` returns bytes before it, between two positions."""

    def __init__(self, size: int, ending: bytes, part: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._ending = ending
        self._start = size - len(ending)
        self._part = part
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence])
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        start = min(self._position, self._size)
        end = self._size if size is None or size < 0 else min(start + size, self._size)
        self._position = end
        before = self._part(start, min(end, self._start)) if start < min(end, self._start) else b""
        return before + self._ending[max(0, start - self._start) : max(0, end - self._start)]
