"""Convert findings to the diagnostics of the protocol, file by file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.explanation import explanation_place
from smspec.editor.open_documents import range_of
from smspec.editor.open_documents import uri_of as location_uri
from smspec.pipeline.validation_result import ValidationResult
from smspec.source import SourceText

SOURCE = "smspec"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
UriOf = Callable[[str], str]
"""From the name of a text to its URI."""


class Publication:
    """What is shown for each file. ``uri_of`` returns the URI under which an editor knows a file."""

    def __init__(self, uri_of: UriOf) -> None:
        self._uri_of = uri_of
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
            self._uri_of(file): [] for file in self._shown if file not in shown
        }
        for file, (found, text) in shown.items():
            if self._shown.get(file) != (found, text):
                changed[self._uri_of(file)] = [converted(diagnostic, lines, self._uri_of) for diagnostic in found]
        self._shown = shown
        return changed

    def found_in(self, uri: str) -> tuple[Diagnostic, ...]:
        """Return the findings that are shown in a file."""
        return next((found for file, (found, _) in dict(self._shown).items() if self._uri_of(file) == uri), ())


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


def converted(diagnostic: Diagnostic, lines: Lines, uri_of: UriOf) -> types.Diagnostic:
    """Return a finding as a diagnostic with all that the text format prints."""
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(uri_of(note.span.file), range_of(lines.of(note.span.file), note.span)),
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
        code_description=None if page is None else types.CodeDescription(f"{location_uri(page[0])}#L{page[1]}"),
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
