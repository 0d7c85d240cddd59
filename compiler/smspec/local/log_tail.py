"""The end of a log, in bounded memory and without secrets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

LOG_LINES = 200
_LONGEST_LINE = 2000


class LogTail:
    """The last lines of a host's log. ``hide`` masks secrets in a text."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._count = 0

    def add(self, line: str) -> None:
        self._count += 1
        # Mask a secret before it may be truncated.
        self._lines.append(self._hide(line)[:_LONGEST_LINE] if len(line) > _LONGEST_LINE else line)

    @property
    def text(self) -> str:
        return self._hide("\n".join(self._lines))

    @property
    def left_out(self) -> int:
        """The number of lines before these."""
        return self._count - len(self._lines)
