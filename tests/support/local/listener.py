"""A listener that records the events of a run."""

from __future__ import annotations

from smspec.local.running.events import Event, LogLines, Remark


class Listener:
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.ticks = 0

    def report(self, event: Event) -> None:
        self.events.append(event)

    def tick(self) -> None:
        self.ticks += 1

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def warnings(self) -> list[str]:
        return [remark.text for remark in self.of(Remark) if remark.warning]

    @property
    def lines(self) -> list[str]:
        return [f"{event.host}: {line}" for event in self.of(LogLines) for line in event.text.lines]
