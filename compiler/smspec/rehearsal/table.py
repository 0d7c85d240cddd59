"""The table of promises for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.diagnostics.visible import visible
from smspec.local.tables import lines_of
from smspec.local.units import duration

if TYPE_CHECKING:
    from smspec.rehearsal.report import Row

_LONGEST = 70


def table(rows: Sequence[Row]) -> str:
    """Return one line for each promise, wrapped in its last column."""
    from rich.table import Table  # imported late, as in `lines_of`

    columns = Table(box=None, pad_edge=False, header_style="")
    for name in ("promise", "result", "time"):
        columns.add_column(name, no_wrap=True, justify="right" if name == "time" else "left")
    columns.add_column("what was seen", max_width=_LONGEST, overflow="fold")
    for row in rows:
        outcome = row.outcome
        seconds = duration(outcome.seconds) if outcome.state != "not rehearsed" else "-"
        columns.add_row(row.name, outcome.state, seconds, visible(outcome.seen[0]) if outcome.seen else "")
    return "\n".join(lines_of(columns)) + "\n"
