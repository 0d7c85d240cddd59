"""What can go wrong with the data of one epoch."""

from typing import NamedTuple, Optional


class Origin(NamedTuple):
    """Where bytes come from: a path, and the channel and epoch it stands for when that is known."""

    path: str
    channel: Optional[str] = None
    epoch: Optional[int] = None

    def __str__(self) -> str:
        if self.channel is None or self.epoch is None:
            return f"`{self.path}`"
        return f"channel `{self.channel}`, epoch {self.epoch}"


class PipeError(Exception):
    """The stream cannot go on. ``offset`` counts the bytes of the epoch before the fault."""

    def __init__(self, origin: Origin, offset: int, problem: str) -> None:
        super().__init__(origin, offset, problem)
        self.origin, self.offset, self.problem = origin, offset, problem
        _, self.channel, self.epoch = origin

    def __str__(self) -> str:
        return f"{self.origin}, byte {self.offset}: {self.problem}"


class Truncated(PipeError):
    """The data ends inside an item, which begins at the offset."""


class Corrupt(PipeError):
    """The data is not what the view reads. The item at fault begins at the offset."""


class TimedOut(PipeError, TimeoutError):
    """A wait took too long."""


class InUse(PipeError):
    """Another reader has the FIFO open."""
