"""Lay out rows in columns with rich: it is only imported here, when a run has something to show."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_ANY_WIDTH = 10_000


def lines_of(table: Table, width: int | None = None, *, colored: bool = False) -> list[str]:
    """Return the lines of a table, without trailing spaces. ``width`` None: as wide as its cells.

    Cells are text, never markup: a channel may be called ``[bold]``.
    """
    from rich.console import Console

    written = io.StringIO()
    console = Console(
        file=written,
        width=width or _ANY_WIDTH,
        force_terminal=colored,
        color_system="standard" if colored else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(table)
    return [line.rstrip() for line in written.getvalue().splitlines()]
