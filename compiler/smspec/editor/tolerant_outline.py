"""The keys and values of a spec while it is typed, even if it is not YAML at the moment, and where the cursor is.

The cursor is before a key, or in a value, whatever the rest of the text is.

A parser gives nothing for a text with an error. This reads line by line, by indentation and brackets, and never fails;
where a text is valid, it finds the same keys as the parser, except those inside anchors, merges, and tags.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Literal

from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.yaml.events import MAX_DEPTH

_KEY = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^\s#\[\]{},&*!|>'"%@`?-][^#]*?|[-?:](?=\S)[^#]*?)[ \t]*:(?=[ \t]|$)"""
)
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*("?)|'(?:''|[^'])*('?)""")
_PLAIN_IN_FLOW = re.compile(r"(?:[^\s,\[\]{}:#]|:(?=[^\s,\[\]{}])|(?<!\s)#|[ \t]+(?=[^\s,\[\]{}:#]))+")
_PLAIN = re.compile(r"(?:[^#]|(?<!\s)#)*?(?=[ \t]+#|[ \t]*$)")
_PROPERTY = re.compile(r"[&!][^\s,\[\]{}]*[ \t]*")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A key or a value on one line; columns count from 0, in code points. ``text`` is without quotes."""

    line: int
    start: int
    end: int
    text: str

    def has(self, line: int, column: int) -> bool:
        return self.line == line and self.start <= column <= self.end


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A key, or an item of a list (without ``key``). ``value``: its text; None for a mapping, a list, or nothing."""

    path: Path
    key: Word | None
    value: Word | None


@dataclasses.dataclass(slots=True)
class _Block:
    """A mapping or a list (``index`` is not None) in block style, that begins in a column."""

    column: int
    path: Path
    key: str = ""
    index: int | None = None

    @property
    def here(self) -> Path:
        return (*self.path, self.key if self.index is None else self.index)


@dataclasses.dataclass(slots=True)
class _Flow:
    """A mapping in braces, or a list in brackets. ``key``: that of the value that comes next; None before a key."""

    path: Path
    key: str | None = None
    index: int | None = None

    @property
    def here(self) -> Path:
        return (*self.path, self.index if self.index is not None else self.key or "")


class TolerantOutline:
    """Reads ``lines``. ``entries`` are those that were found, in their order; the rest is where the text ended."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.entries: list[OutlineEntry] = []
        self.blocks: list[_Block] = []
        self.flows: list[_Flow] = []
        self.in_comment = False
        self.last: tuple[Path, Word, str] | None = None
        """The path, the word, and the kind of place (``key``, ``value``) of what the last line ends with."""
        self._quote = ""
        self._text_above: int | None = None
        for number, line in enumerate(lines):
            self.last, self.in_comment = None, False
            self._line(number, line)

    @property
    def is_in_text(self) -> bool:
        """Whether the text ends inside a value of several lines."""
        return self._text_above is not None

    def _line(self, number: int, line: str) -> None:
        column = len(line) - len(line.lstrip(" "))
        if self._text_above is not None:
            if not line.strip() or column > self._text_above:
                return
            self._text_above = None
        if (
            (self.flows or self._quote)
            and self.blocks
            and column <= self.blocks[-1].column
            and _KEY.match(line, column)
        ):
            # YAML continues with more indentation: a bracket or a quote above was not closed yet.
            self.flows, self._quote = [], ""
        if self._quote:
            end = line.find(self._quote)
            if end < 0:
                return
            self._quote, column = "", end + 1
            if not self.flows:
                return
        if self.flows:
            self._flow(number, line, column)
        elif line.startswith(("---", "...")):
            self.blocks.clear()
        elif line.strip():
            self._block(number, line, column)

    def _block(self, number: int, line: str, column: int) -> None:
        while line[column : column + 2] in ("- ", "-"):
            self._item(column)
            column += 1
            column += len(line[column:]) - len(line[column:].lstrip(" "))
        if column >= len(line):
            return
        if line[column] == "#":
            self.in_comment = True
            return
        match = _KEY.match(line, column)
        if match is None:
            path = self.place_at(column)
            self._value(number, line, column, path, None)
            if self.last is not None:
                self.last = (path, self.last[1], "either")
            return
        self.leave(column, is_key=True)
        if not self.blocks or self.blocks[-1].column < column or self.blocks[-1].index is not None:
            self.blocks.append(_Block(column, self.inside()))
        key = Word(number, match.start(1), match.end(1), _unquoted(match[1]))
        self.blocks[-1].key = key.text
        start = match.end()
        start += len(line[start:]) - len(line[start:].lstrip(" \t"))
        self._value(number, line, start, self.blocks[-1].here, key)

    def _item(self, column: int) -> None:
        # A list may begin in the column of its key, whose mapping stays open.
        while self.blocks and self.blocks[-1].column > column:
            self.blocks.pop()
        top = self.blocks[-1] if self.blocks else None
        if top is not None and top.column == column and top.index is not None:
            top.index += 1
        else:
            self.blocks.append(_Block(column, self.inside(), index=0))

    def leave(self, column: int, *, is_key: bool) -> None:
        """Close the blocks that a key, or a value, in a column cannot be part of."""
        while self.blocks:
            top = self.blocks[-1]
            if top.column > column or (is_key and top.column == column and top.index is not None):
                self.blocks.pop()
            else:
                return

    def inside(self) -> Path:
        """Return the path of the innermost value of the open blocks."""
        return self.blocks[-1].here if self.blocks else ()

    def place_at(self, column: int) -> Path:
        """Return the path of the mapping that a key in a column would be in."""
        self.leave(column, is_key=True)
        if self.blocks and self.blocks[-1].column == column and self.blocks[-1].index is None:
            return self.blocks[-1].path
        return self.inside()

    def _value(self, number: int, line: str, column: int, path: Path, key: Word | None) -> None:
        while match := _PROPERTY.match(line, column):
            column = match.end()
        rest = line[column:]
        if rest[:1] in ("{", "["):
            self._add(path, key, None)
            self._flow(number, line, column, path)
            return
        if _BLOCK_SCALAR.match(rest):
            self._text_above = self.blocks[-1].column if self.blocks else 0
            self._add(path, key, None)
            return
        if rest.startswith("#"):
            self.in_comment = True
            self._add(path, key, None)
            return
        word = self._word(number, line, column, _PLAIN)
        self._add(path, key, word if word.text or word.end > word.start else None)
        after = line[word.end :].lstrip()
        self.in_comment = after.startswith("#")
        if not after:
            self.last = (path, word, "value")

    def _add(self, path: Path, key: Word | None, value: Word | None) -> None:
        if path and (key is not None or value is not None or isinstance(path[-1], int)):
            self.entries.append(OutlineEntry(path, key, value))

    def _word(self, number: int, line: str, column: int, plain: re.Pattern[str]) -> Word:
        if line[column : column + 1] in ('"', "'"):
            match = _QUOTED.match(line, column)
            assert match is not None
            if not (match[1] or match[2]):
                self._quote = line[column]
            return Word(number, column, match.end(), _unquoted(match[0]))
        match = plain.match(line, column)
        end = match.end() if match else column
        return Word(number, column, end, line[column:end])

    def _flow(self, number: int, line: str, column: int, path: Path | None = None) -> None:
        """Read brackets from a column on; ``path``: of the outermost, if it begins here."""
        while column < len(line):
            top = self.flows[-1] if self.flows else None
            letter = line[column]
            if letter in " \t":
                column += 1
                continue
            self.last = None
            if letter == "#":
                self.in_comment = True
                return
            if letter in "{[" and len(self.flows) < MAX_DEPTH:
                here = path if top is None else top.here
                assert here is not None
                if top is not None and top.index is not None:
                    self._add(here, None, None)
                self.flows.append(_Flow(here, index=0 if letter == "[" else None))
            elif letter in "}]":
                self.flows.pop()
                if not self.flows:
                    return
            elif letter == "," and top is not None:
                if top.index is not None:
                    top.index += 1
                top.key = None
            elif letter not in ":{[" and top is not None:
                column = self._flow_word(number, line, column, top)
                continue
            column += 1

    def _flow_word(self, number: int, line: str, column: int, top: _Flow) -> int:
        while match := _PROPERTY.match(line, column):
            column = match.end()
        word = self._word(number, line, column, _PLAIN_IN_FLOW)
        if word.end == column:
            return column + 1
        if top.index is None and top.key is None:
            self.last = (top.path, word, "key")
            top.key = word.text
            self._add((*top.path, word.text), word, None)
        else:
            self.last = (top.here, word, "value")
            if top.index is None and self.entries and self.entries[-1].path == top.here:
                self.entries[-1] = OutlineEntry(top.here, self.entries[-1].key, word)
            else:
                self._add(top.here, None, word)
        if line[word.end :]:
            self.last = None
        return word.end


def _unquoted(text: str) -> str:
    if text[:1] == '"':
        return text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    if text[:1] == "'":
        return (text[1:-1] if len(text) > 1 and text.endswith("'") else text[1:]).replace("''", "'")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorPlace:
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


def place_at(lines: Sequence[str], line: int, column: int) -> CursorPlace | None:
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
    return CursorPlace(
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
