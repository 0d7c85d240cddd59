"""A text, a part of it, and its positions: offsets converted to lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of one file. ``name`` is the path as the author typed or would type it."""

    name: str
    text: str


class Span(NamedTuple):
    """From (line, column) up to, not including, (end_line, end_column) of the file ``file``.

    Lines and columns count from 1, columns in code points, as in SARIF's ``unicodeCodePoints``. A spec has hundreds, so
    it is a tuple, which is created, compared, and pickled in half of the time.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


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
