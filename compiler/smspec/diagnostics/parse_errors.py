"""Errors collected while a text is parsed, before there is a tree that findings could refer to."""

from __future__ import annotations

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.finding import Rule
from smspec.diagnostics.locating import placed_at
from smspec.diagnostics.note import Note
from smspec.diagnostics.rejected import InvalidInput
from smspec.source import Path, Places, SourceText, Span

# No author fixes more in one run, and a hostile text could contain tens of thousands.
MOST = 100


class ParseErrors:
    """The errors in one text, in the order in which they were found."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self._found: list[Diagnostic] = []
        self._places: Places | None = None

    def __bool__(self) -> bool:
        return bool(self._found)

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets of the text; offsets past its end are its end."""
        if self._places is None:
            self._places = Places(self.text)
        return self._places.span(start, end)

    def add(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        path: Path = (),
        help: str = "",
        label: str = "",
        notes: tuple[Note, ...] = (),
    ) -> None:
        """Add one error; give up on the text when there are too many."""
        self._found.append(placed_at(span, rule.at(path, message, help=help, label=label, notes=notes)))
        if len(self._found) >= MOST:
            raise self.rejected()

    def rejected(self) -> InvalidInput:
        """Return the exception with all errors, in the order of the text."""
        found = sorted(dict.fromkeys(self._found), key=lambda fault: (fault.span.line, fault.span.column, fault.code))
        return InvalidInput(found, (self.text,))
