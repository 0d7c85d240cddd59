"""Errors collected while a text is parsed, before there is a tree that findings could point into."""

from __future__ import annotations

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.finding import Rule
from smspec.diagnostics.locating import placed_at
from smspec.diagnostics.note import Note
from smspec.diagnostics.rejected import InvalidInput
from smspec.source import Path, Places, SourceText, Span

# Nobody mends more than this in one go, and a hostile text could hold tens of thousands.
MOST = 100


class ParseErrors:
    """What is wrong with one text, in the order in which it was found."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self._found: list[Diagnostic] = []
        self._places: Places | None = None

    def __bool__(self) -> bool:
        return bool(self._found)

    def span(self, start: int, end: int) -> Span:
        """Return the stretch between two offsets of the text; offsets past its end are its end."""
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
        """Note one fault; give up on the text when there are too many."""
        self._found.append(placed_at(span, rule.at(path, message, help=help, label=label, notes=notes)))
        if len(self._found) >= MOST:
            raise self.rejected()

    def rejected(self) -> InvalidInput:
        """Return the exception that tells the author all of this, in the order of the text."""
        found = sorted(dict.fromkeys(self._found), key=lambda fault: (fault.span.line, fault.span.column, fault.code))
        return InvalidInput(found, (self.text,))
