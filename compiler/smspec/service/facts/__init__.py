"""Dated facts about AWS that no API of a job returns: its images, accounts, and what they contain.

Each `Table` is a CSV file of this package: one row per fact, so that a refresh is reviewed as a diff. Its first line
has its date and its sources. A module of this package reads one table, when a job first needs it. An empty cell is
unknown.
A finding from a table whose facts change over time is a warning that names the date of the table.
"""

from __future__ import annotations

import os
from functools import cache

from smspec.source.frozen import dataclass

Row = dict[str, str]
"""A cell for each column; an empty one is unknown."""

_BEGINNING = "# as of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """``date`` is that of the newest source; ``source`` names the sources and their license. ``lines`` are unparsed."""

    date: str
    source: str
    columns: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def as_of(self) -> str:
        """The end of a message about something that may have changed since."""
        return f"as of {self.date}"

    def rows(self, first: str | None = None) -> tuple[Row, ...]:
        """Return the rows, in order; only those whose first cell is ``first``, if it is given.

        A job needs few rows of a table, so the others are not parsed.
        """
        beginning = "" if first is None else f"{first},"
        chosen = (line for line in self.lines if line.startswith(beginning))
        return tuple(dict(zip(self.columns, _cells(line), strict=True)) for line in chosen)


def parsed_table(text: str) -> Table:
    """Parse the content of a table. No cell contains a line break, and no first cell is quoted."""
    first, header, *lines = text.splitlines()
    date, _, source = first.removeprefix(_BEGINNING).partition(": ")
    return Table(date=date, source=source, columns=tuple(header.split(",")), lines=tuple(lines))


def table_path(name: str) -> str:
    """Return the path of a table in this package."""
    return os.path.join(os.path.dirname(__file__), f"{name}.csv")


@cache
def table(name: str) -> Table:
    """Return a table of this package; its file is read once."""
    with open(table_path(name), encoding="utf-8", newline="") as file:
        return parsed_table(file.read())


def _cells(line: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    # Imported late: few rows contain quotes.
    import csv

    return next(csv.reader([line], strict=True))
