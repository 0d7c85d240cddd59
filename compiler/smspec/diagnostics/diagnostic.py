"""A finding with a position in a text."""

from __future__ import annotations

from smspec.diagnostics.fix import Fix
from smspec.diagnostics.note import Note
from smspec.diagnostics.severity import Severity
from smspec.source import Path, Span
from smspec.source.frozen import dataclass


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
