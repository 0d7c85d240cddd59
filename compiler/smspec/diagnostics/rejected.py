"""The exception for invalid input."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.source import SourceText


class InvalidInput(Exception):
    """The spec has errors. ``texts`` are those that the diagnostics refer to."""

    def __init__(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.texts = tuple(texts)
        super().__init__(f"{len(self.diagnostics)} diagnostics")
