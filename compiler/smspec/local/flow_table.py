"""The table of a run: a row per host, channel, and epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from smspec.local.flows import Flow
from smspec.local.injected_faults import NOTES
from smspec.local.tables import lines_of
from smspec.local.units import rate, size

HEAD = ("host", "channel", "mode", "epoch", "bytes", "seconds", "MB/s", "")
NUMBERS = ("epoch", "bytes", "seconds", "MB/s")
_MOST_ROWS = 60


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
