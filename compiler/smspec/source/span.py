"""A part of a text."""

from __future__ import annotations

from typing import NamedTuple


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
