"""The outline of a spec that an editor shows: its keys, one inside the other."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from smspec.editor.locations import range_in_line
from smspec.editor.tolerant_outline import Entry, TolerantOutline
from smspec.source import Path

_DEEPEST = 3
"""Keys below are not shown: an outline is for finding one's way."""


def symbols(lines: Sequence[str]) -> list[types.DocumentSymbol]:
    """Return the keys of a text, as far as it can be read."""
    entries = [e for e in TolerantOutline(lines).entries if e.key is not None and len(e.path) <= _DEEPEST]
    return _below((), entries, lines, len(lines) - 1)


def _below(path: Path, entries: list[Entry], lines: Sequence[str], last: int) -> list[types.DocumentSymbol]:
    here = [entry for entry in entries if entry.path[:-1] == path and entry.key is not None]
    found = []
    for position, entry in enumerate(here):
        assert entry.key is not None
        following = here[position + 1].key if position + 1 < len(here) else None
        end = last if following is None else max(entry.key.line, following.line - 1)
        inside = [one for one in entries if one.path[: len(entry.path)] == entry.path and one is not entry]
        name = range_in_line(lines, entry.key.line, entry.key.start, entry.key.end)
        whole = types.Range(name.start, range_in_line(lines, end, 0, len(lines[end])).end)
        found.append(
            types.DocumentSymbol(
                name=entry.key.text or '""',
                kind=types.SymbolKind.Object if entry.value is None else types.SymbolKind.Key,
                range=whole,
                selection_range=name,
                detail=entry.value.text if entry.value is not None else None,
                children=_below(entry.path, inside, lines, end),
            )
        )
    return found
