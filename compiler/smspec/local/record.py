"""Keeps what the events of a run add up to: the rows of the summary."""

from __future__ import annotations

from dataclasses import dataclass

from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, Event, HostEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What went through one channel of one host: an epoch in Pipe mode, else all of it (``epoch`` None)."""

    host: str
    channel: str
    mode: str
    epoch: int | None
    size: int
    seconds: float
    is_early: bool = False


class Record:
    """Listens to a run and remembers."""

    def __init__(self) -> None:
        self._flows: dict[tuple[str, str, int | None], Flow] = {}
        self.hosts: dict[str, HostEnded] = {}

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Return the flows by host, channel and epoch."""
        return tuple(sorted(self._flows.values(), key=_order))

    def tick(self) -> None:
        """Nothing is drawn here."""

    def report(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, HostEnded):
            self.hosts[event.host] = event
        elif isinstance(event, ChannelLaid):
            self._keep(
                Flow(
                    host=event.host,
                    channel=event.channel,
                    mode=event.mode,
                    epoch=None,
                    size=event.size,
                    seconds=event.seconds,
                )
            )
        elif isinstance(event, EpochFed | EpochEnded):
            # Until it has ended, an epoch is one that the job gave up before its end.
            self._keep(
                Flow(
                    host=event.host,
                    channel=event.channel,
                    mode="Pipe",
                    epoch=event.epoch,
                    size=event.size,
                    seconds=event.seconds,
                    is_early=event.early if isinstance(event, EpochEnded) else True,
                )
            )

    def _keep(self, flow: Flow) -> None:
        self._flows[flow.host, flow.channel, flow.epoch] = flow


def _order(flow: Flow) -> tuple[int, str, str, int]:
    return len(flow.host), flow.host, flow.channel, -1 if flow.epoch is None else flow.epoch
