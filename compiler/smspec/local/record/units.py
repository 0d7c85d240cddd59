"""Sizes, rates, times, and tables of them, as people read them. Units are powers of 1000, as everywhere in a spec."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_LEAST_SECONDS = 0.005
_ANY_WIDTH = 10_000


def size(count: float) -> str:
    """Return ``1.3 GB``."""
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    return f"{int(count)} B" if unit == 0 else f"{value:.3g} {_UNITS[unit]}"


def rate(count: float, seconds: float) -> str:
    """Return ``134.2`` or ``0.012``: MB per second; ``-`` if it took almost no time."""
    if seconds < _LEAST_SECONDS:
        return "-"
    speed = count / seconds / 1e6
    return f"{speed:,.1f}" if speed >= 1 or not count else f"{speed:.2g}"


def duration(seconds: float) -> str:
    """Return ``0.42 s``, ``12.3 s``, ``3 min 05 s`` or ``2 h 03 min``."""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min"


def screen() -> tuple[int, int]:
    """Return the columns and lines of the terminal of standard error."""
    try:
        columns, lines = os.get_terminal_size(2)
    except OSError:
        columns, lines = 80, 24
    return max(20, columns), max(4, lines)


def lines_of(table: Table, width: int | None = None, *, colored: bool = False) -> list[str]:
    """Return the lines of a table, without trailing spaces. ``width`` None: as wide as its cells.

    Cells are text, never markup: a channel may be called ``[bold]``. Only a run with something to show imports rich.
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
