"""A finding that has been given its place in a text."""

from __future__ import annotations

from smspec.diagnostics.note import Note
from smspec.diagnostics.severity import Severity
from smspec.source import Path, Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What the author is shown. ``path`` is empty where the text could not be read as a tree."""

    code: str
    severity: Severity
    message: str
    span: Span
    path: Path = ()
    help: str = ""
    label: str = ""
    notes: tuple[Note, ...] = ()
