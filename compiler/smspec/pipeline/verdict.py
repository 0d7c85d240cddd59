"""What is wrong with some specs, each as it is and under its overlays: everything once, in the order of the files."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.diagnostics import Diagnostic, Note, Rejected
from smspec.pipeline.compilation import Compilation
from smspec.rules import ignoring
from smspec.source import SourceText
from smspec.source.frozen import replace

MOST_NAMED = 3
"""How many overlays a diagnostic names."""


class Verdict:
    """Gathers what specs come to, one after the other."""

    def __init__(self) -> None:
        self._specs = 0
        self._overlays = 0
        self._texts: dict[str, SourceText] = {}
        self._found: dict[Diagnostic, None] = {}

    def add(self, outcomes: Mapping[str | None, Compilation | Rejected]) -> None:
        """Add one spec: what it comes to as it is (None) and under each of its overlays."""
        self._specs += 1
        self._overlays += sum(overlay is not None for overlay in outcomes)
        found: dict[Diagnostic, list[str | None]] = {}
        for overlay, outcome in outcomes.items():
            for text in outcome.texts:
                self._texts.setdefault(text.name, text)
            for diagnostic in outcome.diagnostics:
                found.setdefault(diagnostic, []).append(overlay)
        order = {name: position for position, name in enumerate(self._texts)}
        told = [
            _under(diagnostic, overlays)
            for diagnostic, overlays in found.items()
            # A check may be ignored for the sake of one overlay: it is ignored in vain only if it is so under all.
            if diagnostic.code != ignoring.UNUSED.code or len(overlays) == len(outcomes)
        ]
        told.sort(key=lambda d: (order.get(d.span.file, len(order)), d.span.line, d.span.column, d.code))
        self._found.update(dict.fromkeys(told))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return everything found; what is wrong only under overlays says so."""
        return tuple(self._found)

    def texts(self) -> tuple[SourceText, ...]:
        """Return the texts that the diagnostics point into."""
        return tuple(self._texts.values())

    def summary(self) -> str:
        """Return in one line what was looked at and how much was found."""
        if not self._specs:
            return "no job to check: a file without `name` is a base, and is checked with the jobs that extend it"
        errors = sum(diagnostic.severity == "error" for diagnostic in self._found)
        warnings = len(self._found) - errors
        checked = _count(self._specs, "job") + (f" with {_count(self._overlays, 'overlay')}" if self._overlays else "")
        counts = [_count(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
        return f"{checked} checked: {', '.join(counts) or 'nothing to say'}"


def _under(diagnostic: Diagnostic, overlays: list[str | None]) -> Diagnostic:
    names = [f"`{name}`" for name in overlays if name is not None]
    if len(names) < len(overlays):
        return diagnostic
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    word = "overlay" if len(names) == 1 else "overlays"
    note = Note(f"with the {word} {', '.join(names[:MOST_NAMED])}{more}")
    return replace(diagnostic, notes=(*diagnostic.notes, note))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
