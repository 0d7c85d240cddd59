"""One line at the bottom of the terminal that changes while a command waits."""

from __future__ import annotations

from smspec.cli.console import Console
from smspec.diagnostics.visible import visible
from smspec.local.terminal import screen


class StatusLine:
    """Draws on standard error, only if that is a terminal. Clear it before anything else is written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_drawn = False

    def draw(self, text: str) -> None:
        """Show a text instead of the last one, cut to the width of the terminal."""
        if self._console.err_is_terminal and self._console.verbosity >= 0:
            self._console.write(f"\r\x1b[K{visible(text)[: screen()[0] - 1]}")
            self._is_drawn = True

    def clear(self) -> None:
        if self._is_drawn:
            self._console.write("\r\x1b[K")
            self._is_drawn = False
