"""A finding with a position in a text, how it gets that from its path, and the exception with all of a text.

`ParseErrors` collects those of a text that is being parsed: there is no tree yet that findings could refer to.
"""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.finding import Finding, Note, Rule, Severity
from smspec.diagnostics.masking import masked, secrets_at, without_quoted, without_tokens
from smspec.diagnostics.suggestions import Fix
from smspec.source import Document, Path, Places, SourceText, Span
from smspec.source.frozen import dataclass, replace

# No author fixes more in one run, and a hostile text could contain tens of thousands.
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A message for the author. ``path`` is empty if the text could not be parsed to a tree.

    ``fix``: what certainly belongs in place of the text at ``span``; None if that is not certain. ``page`` explains
    a rule of an organization; those of smspec have files.
    """

    code: str
    severity: Severity
    message: str
    span: Span
    path: Path = ()
    help: str = ""
    label: str = ""
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    page: str = ""


class InvalidInput(Exception):
    """The spec has errors. ``texts`` are those that the diagnostics refer to."""

    def __init__(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.texts = tuple(texts)
        super().__init__(f"{len(self.diagnostics)} diagnostics")


def placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Return findings with their positions in the texts of ``document``, in the order of files and lines, once each."""
    diagnostics = dict.fromkeys(_place(finding, document) for finding in findings)
    return in_order(diagnostics, document.texts)


def in_order(diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the files, then of their lines."""
    order = {text.name: position for position, text in enumerate(texts)}
    return tuple(
        sorted(diagnostics, key=lambda d: (order.get(d.span.file, len(order)), d.span.line, d.span.column, d.code))
    )


def _place(finding: Finding, document: Document) -> Diagnostic:
    secrets = secrets_at(document, finding.path)
    if secrets:
        finding = replace(
            finding,
            message=without_quoted(finding.message, secrets),
            help=without_quoted(finding.help, secrets),
            label=without_quoted(finding.label, secrets),
            fix=None,
            notes=tuple(Note(without_quoted(note.message, secrets), note.span) for note in finding.notes),
        )
    if finding.place is not None:
        return placed_at(finding.place, finding)
    # A missing value has no position; what requires it has one, often far from where the missing one would be.
    here = finding.cause if finding.cause and document.node(finding.path) is None else finding.path
    span = document.span_of_key(here) if finding.on == "key" else document.span_of_value(here)
    return placed_at(span, finding, used_at=document.used_at(finding.path))


def placed_at(span: Span, finding: Finding, *, used_at: Span | None = None) -> Diagnostic:
    """Return one finding at the position ``span``, with its secrets masked; ``used_at`` is an alias of it."""
    return Diagnostic(
        code=finding.code,
        severity=finding.severity,
        message=masked(finding.message),
        span=span,
        path=tuple(without_tokens(step) if isinstance(step, str) else step for step in finding.path),
        help=masked(finding.help),
        label=masked(finding.label),
        fix=finding.fix if finding.fix and masked(finding.fix.written) == finding.fix.written else None,
        page=finding.page,
        notes=(*([Note("used through an alias here", used_at)] if used_at else []), *map(_masked_note, finding.notes)),
    )


def _masked_note(note: Note) -> Note:
    return Note(masked(note.message), note.span)


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
