"""Where in a spec the cursor is: before which key, or in which value, whatever the rest of the text is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from smspec.editor.tolerant_outline import TolerantOutline
from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``kind``: what can be typed here. ``path``: for a key, that of its mapping, else that of the value.

    ``prefix`` begins in column ``start`` of the line and ends at the cursor. ``present`` are the other keys of the
    mapping. ``needs_space``: the cursor is directly after the colon of a key.
    """

    kind: Literal["key", "value", "either"]
    path: Path
    prefix: str
    start: int
    present: frozenset[str]
    in_flow: bool
    needs_space: bool = False
    is_quoted: bool = False


def place_at(lines: Sequence[str], line: int, column: int) -> Place | None:
    """Return the place before a code point of a line, both from 0; None in a comment or a text of several lines."""
    if line >= len(lines):
        return None
    before = lines[line][:column]
    outline = TolerantOutline([*lines[:line], before])
    if outline.in_comment or outline.is_in_text:
        return None
    kind: Literal["key", "value", "either"]
    prefix, start, is_quoted = "", column, False
    if outline.last is not None:
        path, word, found = outline.last
        kind = "key" if found == "key" else "value" if found == "value" else "either"
        is_quoted = before[word.start : word.start + 1] in ("'", '"')
        prefix, start = word.text, word.start + is_quoted
        if is_quoted and word.end > word.start + 1 and before[word.end - 1] == before[word.start]:
            return None  # after the closing quote
    elif outline.flows:
        top = outline.flows[-1]
        is_key = top.index is None and top.key is None
        kind, path = ("key", top.path) if is_key else ("value", top.here)
    elif not before.strip():
        kind, path = "either", outline.place_at(column)
    else:
        kind, path = "either", outline.inside()
    return Place(
        kind=kind,
        path=path,
        prefix=prefix,
        start=start,
        present=_keys_in(lines, path, line, start),
        in_flow=bool(outline.flows),
        needs_space=before.endswith(":"),
        is_quoted=is_quoted,
    )


def _keys_in(lines: Sequence[str], path: Path, line: int, start: int) -> frozenset[str]:
    return frozenset(
        entry.key.text
        for entry in TolerantOutline(lines).entries
        if entry.key is not None
        and entry.path[:-1] == path
        and not (entry.key.line == line and entry.key.start == start)
    )
