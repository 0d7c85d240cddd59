"""What a stream reads from: a FIFO, or a prefetch in front of one, and layers on top."""

from typing import Optional, Protocol

from .errors import Origin
from .stats import Stats
from .wake import Wake

JOIN = 10.0
"""Seconds that `close` gives a thread, which has at most one read to finish."""


class Source(Protocol):
    """``end`` is None while there may be more; then "eof", "stopped" or "closed" (see `Fifo`)."""

    origin: Origin
    stats: Stats

    @property
    def end(self) -> Optional[str]: ...

    def halted(self) -> bool:
        """Whether the data is cut here: stopped or closed."""

    def watch(self, wake: Wake) -> None:
        """End when this latch closes, too."""

    def readinto(self, view: memoryview) -> int:
        """Read at least one byte, waiting for it if need be; 0 at the end."""

    def close(self) -> None:
        """End the epoch here and release the writer."""


class Layer:
    """A source on top of another, which does what the layer does not."""

    def __init__(self, below: Source) -> None:
        self.below = below
        self.origin = below.origin
        self.stats = below.stats
        self.halted = below.halted
        self.watch = below.watch

    @property
    def end(self) -> Optional[str]:
        return self.below.end

    def close(self) -> None:
        self.below.close()
