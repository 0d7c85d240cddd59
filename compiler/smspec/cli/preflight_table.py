"""The table of what only AWS knows, for a person and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from smspec.cli.console import Console
from smspec.diagnostics.visible import visible
from smspec.local.units import screen
from smspec.submission.preflight.row import SPEC_AT_FAULT, SURROUNDINGS_AT_FAULT, Row

_STATES = {"ok": "32", "wrong": "1;31", "not checked": "33"}
_WIDEST_STATE = max(map(len, _STATES))
_MOST_NAMED = 3


def table_lines(rows: Sequence[Row], console: Console) -> Iterator[str]:
    """Yield the rows in columns. On a terminal, they fit its width; a log gets one line for each, to search in."""
    kinds = max((len(row.kind) for row in rows), default=0)
    indent = _WIDEST_STATE + kinds + 4
    width = max(20, screen()[0] - 1 - indent) if console.err_is_terminal else 0
    for row in rows:
        text = visible(sentence(row))
        lines = textwrap.wrap(text, width, break_on_hyphens=False) if width else [text]
        state = row.state.ljust(_WIDEST_STATE)
        painted = f"\x1b[{_STATES[row.state]}m{state}\x1b[0m" if console.err_in_colour else state
        yield f"{painted}  {row.kind.ljust(kinds)}  {lines[0] if lines else ''}".rstrip()
        yield from (f"{'':{indent}}{line}" for line in lines[1:])


def sentence(row: Row) -> str:
    """Return the name and the text of a row."""
    return f"{row.name}: {row.text}" if row.name and row.text else row.name or row.text


def faults(rows: Iterable[Row]) -> tuple[str, int]:
    """Return what is wrong, and the exit status for it; an empty text if nothing is."""
    found = [row for row in rows if row.state == "wrong"]
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    texts = "; ".join(
        visible(f"{row.kind} `{row.name}`: {row.text}" if row.name else f"{row.kind}: {row.text}")
        for row in found[:_MOST_NAMED]
    )
    is_of_the_spec = any(row.exit_status == SPEC_AT_FAULT for row in found)
    return texts + more, SPEC_AT_FAULT if is_of_the_spec else SURROUNDINGS_AT_FAULT


def records(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the rows for JSON."""
    return [{"kind": row.kind, "name": row.name, "state": row.state, "text": row.text} for row in rows]
