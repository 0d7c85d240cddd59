"""The size of the terminal."""

from __future__ import annotations

import os


def screen() -> tuple[int, int]:
    """Return the columns and lines of the terminal of standard error."""
    try:
        columns, lines = os.get_terminal_size(2)
    except OSError:
        columns, lines = 80, 24
    return max(20, columns), max(4, lines)
