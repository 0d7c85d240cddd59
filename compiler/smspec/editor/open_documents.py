"""The documents that are open in the editor: their texts take the place of the files on disk.

Their URIs and UTF-16 positions are those of the protocol, their paths and code points those of smspec.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

from lsprotocol import types

from smspec.source import Span
from smspec.source.frozen import dataclass
from smspec.workspace.command_line_file import is_meant_as_spec

MOST_BYTES = 1 << 22
"""A larger document is left alone: a spec may have a quarter of that."""

USUAL_NAMES = ("job.yaml", "job.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document as the editor has it. ``path``: its real path; None without a file."""

    uri: str
    path: str | None
    text: str
    version: int | None = None

    @property
    def content(self) -> bytes:
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def is_spec(self) -> bool:
        """Whether it is a spec, or will be one: an empty file with the usual name."""
        if len(self.text) > MOST_BYTES or (self.path is not None and not self.path.endswith((".yaml", ".yml"))):
            return False
        if is_meant_as_spec(self.content):
            return True
        return self.path is not None and os.path.basename(self.path) in USUAL_NAMES

    @property
    def lines(self) -> list[str]:
        return [line.rstrip("\r") for line in self.text.removeprefix("\ufeff").split("\n")]


class OpenDocuments:
    """The open documents, by URI."""

    def __init__(self) -> None:
        self._documents: dict[str, OpenDocument] = {}

    def put(self, uri: str, text: str, version: int | None) -> OpenDocument:
        path = path_of(uri)
        real = None if path is None else os.path.realpath(path)
        document = OpenDocument(uri=uri, path=real, text=text, version=version)
        self._documents[uri] = document
        return document

    def remove(self, uri: str) -> OpenDocument | None:
        return self._documents.pop(uri, None)

    def get(self, uri: str) -> OpenDocument | None:
        return self._documents.get(uri)

    def contents(self) -> dict[str, bytes]:
        """Return the content of each document with a file, by its real path."""
        return {
            document.path: document.content
            for document in self._documents.values()
            if document.path is not None and len(document.text) <= MOST_BYTES
        }

    def specs(self) -> list[OpenDocument]:
        return [document for document in list(self._documents.values()) if document.is_spec]

    def uri_of(self, path: str) -> str:
        """Return the URI under which the editor has a file open, else one made of its path."""
        real = os.path.realpath(path)
        return next((one.uri for one in list(self._documents.values()) if one.path == real), uri_of(path))


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
