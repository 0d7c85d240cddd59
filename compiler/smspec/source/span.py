"""A part of a text."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """From (line, column) up to, not including, (end_line, end_column) of the file ``file``.

    Lines and columns count from 1, columns in code points, as in SARIF's ``unicodeCodePoints``.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
