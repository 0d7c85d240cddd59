"""What happened during one run of a job, and when: lines of the logs, changes of the checkpoints, the interruption."""

from __future__ import annotations

import time

from smspec.local.events import CheckpointChanged, Event, HostEnded, HostsInterrupted, LogLine, ProcessKilled
from smspec.source.frozen import dataclass

_MOST_LINES = 1_000_000
_LONGEST_LINE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a log; ``seconds`` on the clock of its timeline."""

    seconds: float
    host: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file among the checkpoints of a host was ``written``, ``renamed`` from ``source``, or ``removed``.

    ``lines``: how many lines the logs had before it.
    """

    seconds: float
    host: str
    path: str
    kind: str
    source: str | None
    lines: int


class Timeline:
    """Listens to a run and keeps the order of events. It is complete when the run has ended."""

    def __init__(self) -> None:
        self._origin = time.monotonic()
        self.lines: list[Line] = []
        self.changes: list[Change] = []
        self.killed: list[ProcessKilled] = []
        self.interrupted_at: float | None = None
        self.started_at = 0.0
        self.ended_at = 0.0

    def tick(self) -> None:
        """Do nothing: a timeline draws nothing."""

    def report(self, event: Event) -> None:
        """Keep an event."""
        now = time.monotonic() - self._origin
        if isinstance(event, LogLine):
            if len(self.lines) < _MOST_LINES:
                self.lines.append(Line(seconds=now, host=event.host, text=event.text[:_LONGEST_LINE]))
        elif isinstance(event, CheckpointChanged):
            change = Change(
                seconds=event.moment - self._origin,
                host=event.host,
                path=event.path,
                kind=event.kind,
                source=event.source,
                lines=len(self.lines),
            )
            self.changes.append(change)
        elif isinstance(event, ProcessKilled):
            self.killed.append(event)
        elif isinstance(event, HostsInterrupted):
            self.interrupted_at = event.moment - self._origin
        elif isinstance(event, HostEnded):
            self.started_at = min(now - event.seconds, self.started_at or now)
            self.ended_at = now

    @property
    def writes(self) -> list[Change]:
        """The changes that a moment counts: everything but removals."""
        return [change for change in self.changes if change.kind != "removed"]
