"""Disturbances of a run on purpose: an interruption, and faults of what surrounds its hosts.

They test how a job handles them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SurroundingFaults:
    """``absent``: a host that never starts, although the others know it.

    ``room``: the bytes that a host can write to its model, output, and checkpoints. ``protects_model``: its model
    directory is read-only. ``kill_after``: the seconds after which a training process of the last host gets SIGKILL,
    a third of an undisturbed run; ``kills_rank``: only one that a launcher has started. ``variables`` replace those of
    the hosts. ``limit``: the seconds after which the run is stopped.
    """

    absent: str | None = None
    room: int | None = None
    protects_model: bool = False
    kill_after: float | None = None
    kills_rank: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    limit: float | None = None


NO_FAULTS = SurroundingFaults()
