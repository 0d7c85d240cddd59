"""One line at the bottom of the terminal that changes while a command waits."""

from __future__ import annotations

import os

from smspec.cli.console import Console
from smspec.diagnostics.visible import visible


class StatusLine:
    """Draws on standard error, only if that is a terminal. Clear it before anything else is written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_drawn = False

    def draw(self, text: str) -> None:
        """Show a text instead of the last one, cut to the width of the terminal."""
        if self._console.err_is_terminal and self._console.verbosity >= 0:
            self._console.write(f"\r\x1b[K{visible(text)[: _columns() - 1]}")
            self._is_drawn = True

    def clear(self) -> None:
        if self._is_drawn:
            self._console.write("\r\x1b[K")
            self._is_drawn = False


def _columns() -> int:
    try:
        return max(20, os.get_terminal_size(2).columns)
    except OSError:
        return 80
