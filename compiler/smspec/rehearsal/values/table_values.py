"""Comma- or tab-separated numbers, with or without a header."""

from __future__ import annotations

import csv
import io

from smspec.rehearsal.values.leaf import Leaves, Scalar, Unreadable

_DELIMITERS = (",", "\t", ";")


def decode(data: bytes) -> Leaves:
    """Return the cells of a table with at least two columns, as many in each row."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if not first.count(delimiter) or "\0" in text:
        raise Unreadable
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error:
        raise Unreadable from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Unreadable
    has_header = not any(isinstance(_value(cell), float) for cell in rows[0])
    names = rows[0] if has_header else [f"column{number}" for number in range(1, len(rows[0]) + 1)]
    return {
        f"{name}[{index}]": _value(cell)
        for index, row in enumerate(rows[has_header:])
        for name, cell in zip(names, row, strict=True)
    }


def _value(cell: str) -> Scalar:
    try:
        return float(cell)
    except ValueError:
        return cell
