"""Errors in data."""

from typing import NamedTuple, Optional


class Origin(NamedTuple):
    """A path, and its name in messages."""

    path: str
    channel: Optional[str] = None
    epoch: Optional[int] = None

    def __str__(self) -> str:
        if self.channel is None:
            return f"`{self.path}`"
        return f"channel `{self.channel}`, epoch {self.epoch}"


class PipeError(Exception):
    """``offset``: bytes of the epoch before the fault. Raised from None, for a short traceback."""

    def __init__(self, origin: Origin, offset: int, problem: str) -> None:
        super().__init__(origin, offset, problem)
        self.origin, self.offset, self.problem = origin, offset, problem
        _, self.channel, self.epoch = origin

    def __str__(self) -> str:
        return f"{self.origin}, byte {self.offset}: {self.problem}"


class Truncated(PipeError):
    """Ends inside the item at the offset."""


class Corrupt(PipeError):
    """The item at the offset is not valid for the view."""


class TimedOut(PipeError, TimeoutError):
    """A wait took too long."""


class InUse(PipeError):
    """Another reader has it open."""
