"""The one exception that is meant for the author."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.source import SourceText


class InvalidInput(Exception):
    """The spec is at fault. ``texts`` are those that the diagnostics point into."""

    def __init__(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.texts = tuple(texts)
        super().__init__(f"{len(self.diagnostics)} diagnostics")
