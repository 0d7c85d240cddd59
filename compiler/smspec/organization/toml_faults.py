"""Faults in smspec.toml, at their lines. The TOML library keeps no positions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.diagnostics import Diagnostic, InvalidInput, Rule
from smspec.diagnostics.parse_errors import MOST
from smspec.organization.organization_config import MalformedConfig, OrganizationConfig
from smspec.source import Path, SourceText, Span
from smspec.workspace.boundary_search import PYPROJECT

MALFORMED_POLICY = Rule("SM747", "malformed policy")

_WORD = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"({_WORD}(?:\s*\.\s*{_WORD})*)\s*"
_KEY = rf"\s*{_DOTTED}="
_HEADER = rf"\s*\[{{1,2}}\s*{_DOTTED}\]"

_DEEPEST = 8
"""Steps of a path whose parents get a position."""

Fault = tuple[tuple[str, ...], str, str]
"""Path in the file, message, help."""


def rejected(malformed: MalformedConfig) -> InvalidInput:
    """Return the error for a file that cannot be parsed."""
    at = re.search(r"\(at line (\d+), column (\d+)\)\Z", malformed.fault)
    line, column = (int(at[1]), int(at[2])) if at else (1, 1)
    span = Span(malformed.path, line, column, line, column)
    help = "fix the syntax" if at else "replace it with a TOML file of less than 128 KiB"
    return _invalid(text_of(malformed), [(span, (), malformed.fault, help)], MALFORMED_POLICY)


def rejected_values(file: OrganizationConfig, faults: Sequence[Fault], rule: Rule) -> InvalidInput:
    """Return the error for values in a file, at most `MOST`."""
    places = Places(file)
    located = [(places.of(path), path, message, help) for path, message, help in faults[:MOST]]
    return _invalid(places.text, located, rule)


class Places:
    """The positions of the keys and tables of a file."""

    def __init__(self, file: OrganizationConfig) -> None:
        self.text = text_of(file)
        self._top = ("tool", "smspec") if file.path.endswith(PYPROJECT) else ()
        self._places = _places(self.text)

    def of(self, path: Path) -> Span:
        """Return the position of a key, or of its nearest known parent."""
        whole = (*self._top, *path)
        known = (self._places[whole[:length]] for length in range(len(whole), 0, -1) if whole[:length] in self._places)
        return next(known, Span(self.text.name, 1, 1, 1, 1))


def _invalid(text: SourceText, faults: Sequence[tuple[Span, Path, str, str]], rule: Rule) -> InvalidInput:
    diagnostics = [
        Diagnostic(
            code=rule.code,
            severity=rule.severity,
            message=message,
            span=span,
            path=path,
            help=help,
        )
        for span, path, message, help in faults
    ]
    return InvalidInput(tuple(sorted(diagnostics, key=lambda d: (d.span.line, d.span.column))), (text,))


def text_of(file: OrganizationConfig | MalformedConfig) -> SourceText:
    """Return the text of a file."""
    return SourceText(file.path, file.content.decode("utf-8", "replace").replace("\r\n", "\n"))


def _places(text: SourceText) -> dict[Path, Span]:
    """Return the first position of each key and table. The TOML library keeps no positions."""
    places: dict[Path, Span] = {}
    table: Path = ()
    for number, line in enumerate(text.text.split("\n"), 1):
        header, key = re.match(_HEADER, line), re.match(_KEY, line)
        named = header or key
        if named is None:
            continue
        here: Path = (*(() if header else table), *_steps(named[1]))
        table = here if header else table
        span = Span(text.name, number, named.start(1) + 1, number, named.end(1) + 1)
        places.setdefault(here, span)
        # `stopping.max_runtime = …` is the position of `stopping` too.
        for length in range(len(table) + 1 if key else 1, min(len(here), _DEEPEST)):
            places.setdefault(here[:length], span)
    return places


def _steps(written: str) -> Path:
    return tuple(a or b or c for a, b, c in re.findall(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""", written))
