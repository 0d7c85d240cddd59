"""An interruption of a run on purpose: when it comes, and how the hosts end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EventKind = Literal["start", "line", "checkpoint"]
"""What a moment counts: nothing but the start of the hosts, lines of their logs, changes of their checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """``delay`` seconds after the ``count``-th event of a kind; the events of all hosts count together."""

    after: EventKind
    count: int = 0
    delay: float = 0.0

    def __str__(self) -> str:
        what = {
            "start": "the start",
            "line": f"line {self.count} of the log",
            "checkpoint": f"change {self.count} of the checkpoints",
        }[self.after]
        return f"{self.delay:.2g} s after {what}" if self.delay else f"after {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """``is_loss``: every process ends at once, as when hosts are lost; else each host gets SIGTERM, then ``grace``."""

    moment: Moment
    grace: float
    is_loss: bool = False

    def __str__(self) -> str:
        return f"{'SIGKILL' if self.is_loss else 'SIGTERM'} {self.moment}"


class InterruptionClock:
    """Counts the events of a run, and says when an interruption is due."""

    def __init__(self, interruption: Interruption) -> None:
        self._moment = interruption.moment
        self._count = 0
        self._due_at: float | None = None

    def happened(self, kind: EventKind, now: float) -> None:
        """Count an event."""
        if kind == self._moment.after and self._due_at is None:
            self._count += 1
            if self._count >= self._moment.count:
                self._due_at = now + self._moment.delay

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds until the interruption is due, 0 or less if it is; None as long as they are unknown."""
        return None if self._due_at is None else self._due_at - now
