"""One line at the bottom of the terminal that changes while a command waits."""

from __future__ import annotations

from smspec.cli.console import Console
from smspec.diagnostics.open_question import drawing, erased
from smspec.diagnostics.visible import visible
from smspec.local.units import screen


class StatusLine:
    """Draws on standard error, only if that is a terminal. Clear it before anything else is written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_drawn = False

    def draw(self, text: str) -> None:
        """Show a text instead of the last one, cut to the width of the terminal, unless a person is asked there."""
        if self._console.err_is_terminal and self._console.verbosity >= 0:
            with drawing(self.clear) as may_draw:
                if may_draw:
                    self._console.paint(f"\r\x1b[K{visible(text)[: screen()[0] - 1]}")
                    self._is_drawn = True

    def clear(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._console.paint("\r\x1b[K")
            erased(self.clear)
