"""A FIFO, or a prefetch in front of one, and layers on top."""

from typing import Optional, Union

from .errors import Origin
from .fifo import Fifo
from .prefetch import Prefetch
from .stats import Stats
from .wake import Wake


class Layer:
    """A source on top of another, which does the rest."""

    def __init__(self, below: "Source") -> None:
        self.below = below
        self.origin: Origin = below.origin
        self.stats: Stats = below.stats

    @property
    def end(self) -> Optional[str]:
        return self.below.end

    def halted(self) -> bool:
        return self.below.halted()

    def watch(self, wake: Wake) -> None:
        self.below.watch(wake)

    def readinto(self, view: memoryview) -> int:
        return self.below.readinto(view)

    def close(self) -> None:
        self.below.close()


Source = Union[Fifo, Prefetch, Layer]
