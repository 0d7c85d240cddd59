"""The end of a log, in bounded memory and without secrets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

LOG_LINES = 200
_LONGEST_LINE = 2000
_LONGEST_SECRET = 4096
"""Characters of a line after those that are shown: a secret that begins in these is masked as a whole."""


class LogTail:
    """The last lines of a host's log. ``hide`` masks secrets in a text."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._count = 0

    def add(self, line: str) -> None:
        # Masked at the end, when most lines are gone: the search takes a microsecond for each character.
        self._count += 1
        self._lines.append(line[: _LONGEST_LINE + _LONGEST_SECRET])

    @property
    def text(self) -> str:
        # Mask a secret before it may be truncated.
        lines = (self._hide(line)[:_LONGEST_LINE] if len(line) > _LONGEST_LINE else line for line in self._lines)
        return self._hide("\n".join(lines))

    @property
    def left_out(self) -> int:
        """The number of lines before these."""
        return self._count - len(self._lines)
