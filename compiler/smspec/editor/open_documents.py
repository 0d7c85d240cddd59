"""The documents that are open in the editor: their texts take the place of the files on disk.

Their URIs and UTF-16 positions are those of the protocol, their paths and code points those of smspec. Findings in them
are converted to diagnostics of the protocol, file by file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

from lsprotocol import types

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.explanation import explanation_place
from smspec.pipeline.validation_result import ValidationResult
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass
from smspec.workspace.spec_reading import is_meant_as_spec

MOST_BYTES = 1 << 22
"""A larger document is left alone: a spec may have a quarter of that."""

USUAL_NAMES = ("job.yaml", "job.yml")
SOURCE = "smspec"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}

UriOf = Callable[[str], str]
"""From the name of a text to its URI."""


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


class Publication:
    """What is shown for each file. ``uri_in_editor`` returns the URI under which an editor knows a file."""

    def __init__(self, uri_in_editor: UriOf) -> None:
        self._uri_in_editor = uri_in_editor
        self._shown: dict[str, tuple[tuple[Diagnostic, ...], SourceText | None]] = {}

    def changes(self, result: ValidationResult) -> dict[str, list[types.Diagnostic]]:
        """Return the diagnostics of the files for which they changed, by URI; an empty list removes them."""
        texts = {text.name: text for text in result.texts}
        by_file: dict[str, list[Diagnostic]] = {}
        for diagnostic in result.diagnostics:
            by_file.setdefault(diagnostic.span.file, []).append(diagnostic)
        shown = {file: (tuple(found), texts.get(file)) for file, found in by_file.items()}
        lines = Lines(texts)
        changed: dict[str, list[types.Diagnostic]] = {
            self._uri_in_editor(file): [] for file in self._shown if file not in shown
        }
        for file, (found, text) in shown.items():
            if self._shown.get(file) != (found, text):
                changed[self._uri_in_editor(file)] = [
                    converted(diagnostic, lines, self._uri_in_editor) for diagnostic in found
                ]
        self._shown = shown
        return changed

    def found_in(self, uri: str) -> tuple[Diagnostic, ...]:
        """Return the findings that are shown in a file."""
        return next((found for file, (found, _) in dict(self._shown).items() if self._uri_in_editor(file) == uri), ())


class Lines:
    """The lines of texts, divided once each."""

    def __init__(self, texts: Mapping[str, SourceText]) -> None:
        self._texts = texts
        self._lines: dict[str, Sequence[str]] = {}

    def of(self, name: str) -> Sequence[str]:
        if name not in self._lines:
            text = self._texts.get(name)
            self._lines[name] = text.text.split("\n") if text else ()
        return self._lines[name]


def converted(diagnostic: Diagnostic, lines: Lines, uri_in_editor: UriOf) -> types.Diagnostic:
    """Return a finding as a diagnostic with all that the text format prints."""
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(uri_in_editor(note.span.file), range_of(lines.of(note.span.file), note.span)),
            message=note.message,
        )
        for note in diagnostic.notes
        if note.span
    ]
    page = explanation_place(diagnostic.code)
    return types.Diagnostic(
        range=range_of(lines.of(diagnostic.span.file), diagnostic.span),
        message=message(diagnostic),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=None if page is None else types.CodeDescription(f"{uri_of(page[0])}#L{page[1]}"),
        source=SOURCE,
        related_information=related or None,
    )


def message(diagnostic: Diagnostic) -> str:
    """Return the parts of a finding, one per line, as the text format orders them."""
    return "\n".join(
        words
        for words in (
            diagnostic.message,
            diagnostic.label,
            *(f"note: {note.message}" for note in diagnostic.notes if _is_plain(note)),
            f"help: {diagnostic.help}" if diagnostic.help else "",
        )
        if words
    )


def _is_plain(note: Note) -> bool:
    return note.span is None
