"""The data that went through the channels of a run: rows of its summary, their table, and the faults in them.

The times of readers are measurements that the runtime logs per channel and epoch (smspec_runtime/pipe/loop.py).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from smspec.local.feeder.plan import Injection
from smspec.local.record.units import duration, lines_of, rate, size
from smspec.local.running.events import ChannelLaid, EpochEnded, EpochFed, FaultInjected
from smspec.source.frozen import dataclass, replace

METRICS = '{"smspec": "pipe", '
"""The prefix of a line with a measurement."""

HEAD = ("host", "channel", "mode", "epoch", "bytes", "seconds", "MB/s", "")
NUMBERS = ("epoch", "bytes", "seconds", "MB/s")
_MOST_ROWS = 60

NOTES = {"stall": "stalled", "truncate": "cut short", "kill_writer": "writer killed"}
"""The notes of the table for an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds of one epoch of a channel: from opening its FIFO to its end, of waiting for data, and of computing.

    ``epoch`` continues after a restart, ``fifo`` starts at 0. ``waiting`` and ``computing`` are of all channels.
    """

    channel: str
    epoch: int
    fifo: int
    seconds: float
    waiting: float
    computing: float


def measured(text: str) -> Measured | None:
    """Parse a line. None: it is not such a line, or a script wrote an invalid one."""
    if not text.startswith(METRICS):
        return None
    try:
        record = json.loads(text)
        found = Measured(
            channel=str(record["channel"]),
            epoch=int(record["epoch"]),
            fifo=int(record["fifo"]),
            seconds=float(record["seconds"]),
            waiting=float(record["waited"]),
            computing=float(record["computed"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    times = found.seconds, found.waiting, found.computing
    return found if all(math.isfinite(time) and time >= 0 for time in times) else None


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


def table(flows: Sequence[Flow]) -> str:
    """Return one row per host, channel, and epoch; per host and channel if those are too many."""
    from rich.table import Column, Table
    from rich.text import Text

    columns = [Column(name, no_wrap=True, justify="right" if name in NUMBERS else "left") for name in HEAD]
    table = Table(*columns, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for row in rows(flows, _MOST_ROWS):
        table.add_row(*map(Text, row))
    return "".join(f"{line}\n" for line in lines_of(table))


def rows(flows: Sequence[Flow], most: int) -> list[tuple[str, ...]]:
    """Return the cells below `HEAD`: a row per flow, or per host and channel if there are more than ``most`` flows."""
    return list(map(_row, flows)) if len(flows) <= most else _added_up(flows)


def _row(flow: Flow) -> tuple[str, ...]:
    return (
        flow.host,
        flow.channel,
        flow.mode,
        "-" if flow.epoch is None else str(flow.epoch),
        size(flow.size),
        f"{flow.seconds:.2f}",
        rate(flow.size, flow.seconds),
        _notes(flow),
    )


def _notes(flow: Flow) -> str:
    notes = [NOTES[kind] for kind in flow.injected]
    if flow.is_early and "kill_writer" not in flow.injected:
        notes.append("ended early")
    return ", ".join(notes)


def _added_up(flows: Sequence[Flow]) -> list[tuple[str, ...]]:
    """Return one row per host and channel."""
    groups: dict[tuple[str, str], list[Flow]] = {}
    for flow in flows:
        groups.setdefault((flow.host, flow.channel), []).append(flow)
    return [_row_of_all(group) for group in groups.values()]


def _row_of_all(flows: Sequence[Flow]) -> tuple[str, ...]:
    first, last = flows[0], flows[-1]
    notes = Counter(note for flow in flows for note in _notes(flow).split(", ") if note)
    count, seconds = sum(flow.size for flow in flows), sum(flow.seconds for flow in flows)
    row = _row(Flow(host=first.host, channel=first.channel, mode=first.mode, epoch=None, size=count, seconds=seconds))
    epochs = "-" if first.epoch is None else f"{first.epoch}-{last.epoch}"
    return (*row[:3], epochs, *row[4:7], ", ".join(f"{count} {note}" for note, count in notes.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Seconds of waiting for data, and of computing, over all channels in the epochs ``first`` to ``last``."""

    host: str
    first: int
    last: int
    waiting: float
    computing: float

    @property
    def epochs(self) -> str:
        """Return ``3`` or ``0-19``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def verdict(self) -> str:
        """Return what to speed up, in the words of the runtime's log."""
        return "data-bound" if self.waiting > self.computing else "compute-bound"

    @property
    def waiting_share(self) -> float:
        """Return the percentage of time in which the script waited."""
        whole = self.waiting + self.computing
        return 100 * self.waiting / whole if whole else 0.0


def added_up(balances: Iterable[Balance]) -> list[Balance]:
    """Return one balance per host."""
    hosts: dict[str, list[Balance]] = {}
    for balance in balances:
        hosts.setdefault(balance.host, []).append(balance)
    return [
        Balance(
            host=host,
            first=min(balance.first for balance in members),
            last=max(balance.last for balance in members),
            waiting=sum(balance.waiting for balance in members),
            computing=sum(balance.computing for balance in members),
        )
        for host, members in hosts.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """One kind of fault: its option, the requested amount, and in how many epochs of all hosts it happened."""

    option: str
    value: float | None
    epochs: int

    def __str__(self) -> str:
        amount = "" if self.value is None else f" {_amount(self.option, self.value)}"
        happened = {0: "every epoch was shorter", 1: "in 1 epoch"}.get(self.epochs, f"in {self.epochs} epochs")
        return f"{self.option}{amount}: {happened}"


def rehearsed(injection: Injection | None, injected: Sequence[FaultInjected]) -> tuple[InjectedFault, ...]:
    """Return the requested faults, and how often they happened."""
    if injection is None:
        return ()
    wanted = {
        "stall": injection.stall or None,
        "truncate": injection.truncate,
        "kill_writer": True if injection.kill_writer else None,
    }
    return tuple(
        InjectedFault(
            option="--" + kind.replace("_", "-"),
            value=None if value is True else value,
            epochs=sum(fault.kind == kind for fault in injected),
        )
        for kind, value in wanted.items()
        if value is not None
    )


def describe(fault: FaultInjected) -> str:
    """Return a message about a fault that was just injected."""
    note = NOTES[fault.kind]
    return f"injected: {fault.host}, channel `{fault.channel}`, epoch {fault.epoch}: {note} after {size(fault.size)}"


def _amount(option: str, value: float) -> str:
    return duration(value) if option == "--stall" else size(value)
