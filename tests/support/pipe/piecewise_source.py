"""A source that returns its bytes in given pieces."""

from __future__ import annotations

from smspec_runtime.pipe.errors import Origin
from smspec_runtime.pipe.reader import Reader
from smspec_runtime.pipe.stats import Stats


class PiecewiseSource:
    """``sizes`` of the reads; the last size is repeated until the data ends."""

    def __init__(self, data, sizes=(1 << 30,)):
        self.origin = Origin("/data/train_3", "train", 3)
        self.stats = Stats()
        self.end = None
        self._data = memoryview(data)
        self._sizes = list(sizes)

    def readinto(self, view):
        size = self._sizes.pop(0) if len(self._sizes) > 1 else self._sizes[0]
        count = min(size, len(view), len(self._data))
        if self.end is not None or not count:
            self.end = self.end or "eof"
            return 0
        view[:count] = self._data[:count]
        self._data = self._data[count:]
        return count

    def halted(self):
        return self.end == "closed"

    def watch(self, wake):
        raise AssertionError("nobody stops this source")

    def close(self):
        self.end = self.end or "closed"


def reader_of(data, sizes=(1 << 30,)):
    return Reader(PiecewiseSource(data, sizes))


def outcome(items):
    """Return what an iteration gave before it ended, and the error that ended it or None."""
    from smspec_runtime.pipe.errors import PipeError

    got = []
    try:
        for item in items:
            got.append(item)
    except PipeError as error:
        return got, error
    return got, None
