"""Convert offsets in a text to lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from smspec.source.span import Span
from smspec.source.text import SourceText


class Places:
    """The positions in one text. Lines end in line feeds, columns are code points, both count from 1."""

    def __init__(self, text: SourceText) -> None:
        self._name = text.name
        self._length = len(text.text)
        self._starts = [0]
        at = text.text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.text.find("\n", at + 1)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets; offsets past the end of the text are its end."""
        line, column = self._place(min(start, self._length))
        end_line, end_column = self._place(min(max(start, end), self._length))
        return Span(self._name, line, column, end_line, end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
