"""Convert between the URIs and UTF-16 positions of the protocol, and the paths and code points of smspec."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

from lsprotocol import types

from smspec.source import Span


def path_of(uri: str) -> str | None:
    """Return the absolute path of a ``file:`` URI; None for any other, such as that of a document without a file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = os.fsdecode(unquote_to_bytes(parts.path))
    return os.path.normpath(path) if path.startswith("/") and "\0" not in path else None


def uri_of(path: str) -> str:
    """Return the URI of a path."""
    return "file://" + quote(os.fsencode(os.path.abspath(path)))


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def column_of(line: str, character: int) -> int:
    """Return the code points before a UTF-16 position; inside a pair, before the pair; past the end, all of them."""
    if line.isascii():
        return min(max(character, 0), len(line))
    units = 0
    for column, letter in enumerate(line):
        units += 2 if letter > "\uffff" else 1
        if units > character:
            return column
    return len(line)


def position_at(lines: Sequence[str], line: int, column: int) -> types.Position:
    """Return the position before a code point of a line; both count from 0. Past the end it is the end."""
    if line >= len(lines):
        last = max(len(lines) - 1, 0)
        return types.Position(last, utf16_length(lines[last]) if lines else 0)
    return types.Position(line, utf16_length(lines[line].rstrip("\r")[: max(column, 0)]))


def range_of(lines: Sequence[str], span: Span) -> types.Range:
    """Return a span, whose lines and columns count from 1, as a range of a text with these lines."""
    return types.Range(
        start=position_at(lines, span.line - 1, span.column - 1),
        end=position_at(lines, span.end_line - 1, span.end_column - 1),
    )


def range_in_line(lines: Sequence[str], line: int, start: int, end: int) -> types.Range:
    """Return the range between two columns of a line; all count from 0."""
    return types.Range(start=position_at(lines, line, start), end=position_at(lines, line, end))
