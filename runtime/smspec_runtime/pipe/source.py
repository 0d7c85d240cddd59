"""What a stream reads from: a FIFO, or a prefetch in front of one, and layers on top."""

from typing import Optional, Union

from .fifo import Fifo
from .prefetch import Prefetch


class Layer:
    """A source on top of another, which does what the layer does not."""

    def __init__(self, below: "Source") -> None:
        self.below = below
        self.origin = below.origin
        self.stats = below.stats
        self.halted = below.halted
        self.watch = below.watch

    @property
    def end(self) -> Optional[str]:
        return self.below.end

    def readinto(self, view: memoryview) -> int:
        return self.below.readinto(view)

    def close(self) -> None:
        self.below.close()


Source = Union[Fifo, Prefetch, Layer]
