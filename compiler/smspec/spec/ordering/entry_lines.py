"""Which lines of a text belong to each entry of a mapping in block style, with the comments around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from smspec.source import Mapping
from smspec.source.frozen import dataclass

_MODELINE = re.compile(r"#\s*(?:yaml-language-server:|-\*-|vim?:|[\w-]+\s*:\s*disable)|#!")
_DASHES = re.compile(r"\s*(?:-[ ]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLines:
    """``starts`` are the first line of each entry, with the comments above it; ``keys``: the lines of the keys.

    ``end`` is the line after the last entry. ``prefix``: the text in front of the first key, spaces or dashes. Lines
    count from 0.
    """

    starts: tuple[int, ...]
    keys: tuple[int, ...]
    end: int
    prefix: str


def entry_lines(mapping: Mapping, lines: Sequence[str], start: int, end: int) -> EntryLines | None:
    """Return the lines of the entries of a mapping in the lines from ``start`` to ``end``.

    None unless each key begins a line: in flow style, with a merge key, or with an explicit key (``? key``).
    """
    keys = tuple(key.span.line - 1 for key, _ in mapping.entries)
    columns = {key.span.column for key, _ in mapping.entries}
    if not keys or len(columns) > 1 or any(one >= other for one, other in pairwise(keys)):
        return None
    if keys[0] < start or keys[-1] >= end or any(key.used_at for key, _ in mapping.entries):
        return None
    column = columns.pop() - 1
    prefix = lines[keys[0]][:column]
    if prefix.strip(" ") and not _DASHES.fullmatch(prefix):
        return None
    if any(lines[key][:column].strip(" ") for key in keys[1:]):
        return None
    ends = [value.used_at or value.span for _, value in mapping.entries]
    contents = [max(key, last.end_line - 1) for key, last in zip(keys, ends, strict=True)]
    if any(last >= following for last, following in zip(contents, keys[1:], strict=False)):
        return None
    first = _first(lines, start, keys[0])
    between = [_split(lines, last + 1, key, column) for last, key in zip(contents, keys[1:], strict=False)]
    starts = (first, *between)
    return EntryLines(starts=starts, keys=keys, end=_below(lines, contents[-1] + 1, end, column), prefix=prefix)


def _first(lines: Sequence[str], start: int, key: int) -> int:
    """Return where the first entry begins: comments up to an empty line, or for editors, are those of the file."""
    at = key
    while at > start and _is_comment(lines[at - 1]) and not _MODELINE.match(lines[at - 1].lstrip("\ufeff \t")):
        at -= 1
    return at


def _split(lines: Sequence[str], start: int, key: int, column: int) -> int:
    """Return where the entry of the key begins, between the last line of the entry before it and the key.

    A comment belongs to the entry below it, unless it is indented deeper, or only an empty line separates the two and
    none is above it.
    """
    at = start
    while at < key and _is_comment(lines[at]) and _indentation(lines[at]) > column:
        at += 1
    block = at
    while block < key and _is_comment(lines[block]):
        block += 1
    if at < block < key:
        at = block
    deeper = [line + 1 for line in range(at, key) if _is_comment(lines[line]) and _indentation(lines[line]) > column]
    return max([at, *deeper])


def _below(lines: Sequence[str], start: int, end: int, column: int) -> int:
    """Return the end of the last entry: comments that follow it without an empty line, and are indented deeper."""
    at = start
    while at < end and _is_comment(lines[at]) and _indentation(lines[at]) > column:
        at += 1
    return at


def _is_comment(line: str) -> bool:
    return line.lstrip("\ufeff \t").startswith("#")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
