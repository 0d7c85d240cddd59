"""Convert paths of findings to positions in texts."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.finding import Finding
from smspec.diagnostics.masking import masked, without_tokens
from smspec.diagnostics.note import Note
from smspec.diagnostics.quoted_secrets import secrets_at, without_quoted
from smspec.source import Document, SourceText, Span
from smspec.source.frozen import replace


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
