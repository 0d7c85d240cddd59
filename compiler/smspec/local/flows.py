"""The data that went through the channels of a run: the rows of its summary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from smspec.local.events import ChannelLaid, EpochEnded, EpochFed, FaultInjected
from smspec.local.measurements import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The data that went through one channel of one host: an epoch in Pipe mode, else all of it (``epoch`` None).

    ``epoch`` and ``seconds`` are the reader's if it reported them: a resumed run continues its epochs, while FIFOs
    start at 0; and the content of a FIFO is written long before it is read. ``injected``: the kinds of faults that were
    injected.
    """

    host: str
    channel: str
    mode: str
    epoch: int | None
    size: int
    seconds: float
    is_early: bool = False
    injected: tuple[str, ...] = ()


class Flows:
    """The flows of a run, with the times of their readers and the faults that were injected into them."""

    def __init__(self) -> None:
        self._flows: dict[tuple[str, str, int | None], Flow] = {}
        self._read: dict[tuple[str, str, int | None], float] = {}
        self._completed_before: dict[tuple[str, str], int] = {}

    def add(self, event: ChannelLaid | EpochFed | EpochEnded) -> None:
        """Record the progress of a channel, or of an epoch of it."""
        if isinstance(event, ChannelLaid):
            self._keep(event, epoch=None, mode=event.mode, is_early=False)
        else:
            # Until it has ended, an epoch counts as one that the job closed early.
            is_early = event.early if isinstance(event, EpochEnded) else True
            self._keep(event, epoch=event.epoch, mode="Pipe", is_early=is_early)

    def read(self, host: str, found: Measured) -> None:
        """Record how long the reader of an epoch took, and its number for the reader."""
        self._read[host, found.channel, found.fifo] = found.seconds
        self._completed_before[host, found.channel] = found.epoch - found.fifo

    def in_order(self, injected: Iterable[FaultInjected]) -> tuple[Flow, ...]:
        """Return the flows by host, channel, and epoch."""
        kinds: dict[tuple[str, str, int | None], list[str]] = {}
        for fault in injected:
            kinds.setdefault((fault.host, fault.channel, fault.epoch), []).append(fault.kind)
        flows = (
            replace(
                flow,
                epoch=self._epoch_of(flow),
                injected=tuple(kinds.get(key, ())),
                seconds=self._read.get(key, flow.seconds),
            )
            for key, flow in self._flows.items()
        )
        return tuple(sorted(flows, key=_order))

    def _epoch_of(self, flow: Flow) -> int | None:
        return None if flow.epoch is None else flow.epoch + self._completed_before.get((flow.host, flow.channel), 0)

    def _keep(
        self, event: ChannelLaid | EpochFed | EpochEnded, *, epoch: int | None, mode: str, is_early: bool
    ) -> None:
        self._flows[event.host, event.channel, epoch] = Flow(
            host=event.host,
            channel=event.channel,
            mode=mode,
            epoch=epoch,
            size=event.size,
            seconds=event.seconds,
            is_early=is_early,
        )


def _order(flow: Flow) -> tuple[int, str, str, int]:
    return len(flow.host), flow.host, flow.channel, -1 if flow.epoch is None else flow.epoch
