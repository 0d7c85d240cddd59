"""The one place where paths become lines."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.finding import Finding
from smspec.diagnostics.note import Note
from smspec.diagnostics.secrets import masked
from smspec.source import Document


def placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Give every finding its place in the texts of ``document``; file order, then line order, duplicates dropped."""
    order = {text.name: position for position, text in enumerate(document.texts)}
    diagnostics = dict.fromkeys(_place(finding, document) for finding in findings)
    return tuple(
        sorted(diagnostics, key=lambda d: (order.get(d.span.file, len(order)), d.span.line, d.span.column, d.code))
    )


def _place(finding: Finding, document: Document) -> Diagnostic:
    span = document.span_of_key(finding.path) if finding.on == "key" else document.span_of_value(finding.path)
    used_at = document.used_at(finding.path)
    return Diagnostic(
        code=finding.code,
        severity=finding.severity,
        message=masked(finding.message),
        span=span,
        path=finding.path,
        help=masked(finding.help),
        label=masked(finding.label),
        notes=(*([Note("used through an alias here", used_at)] if used_at else []), *finding.notes),
    )
