"""Read a YAML text that is written plainly, line by line, which takes a tenth of the time of a parser.

Plain is a subset: ASCII without tabs, escapes, anchors, tags, or text that goes on in the next line; each line is a
comment, or a key or an item of a list with its whole value. Whatever is not surely plain, or not surely valid, is left
to the parser, so a text means here what it means there. Tests compare the two.
"""

from __future__ import annotations

import functools
import re

from smspec.source.frozen import dataclass

_LARGEST = 1 << 14
"""Characters: such a text is within all limits of the parser."""
_LONGEST_LINE = 500
_DEEPEST = 30

_KEY = r"[A-Za-z_][A-Za-z0-9_-]*"
_START = r"[A-Za-z0-9_./]"
_QUOTED = r"\"[^\"\\]*\"|'[^']*'"
# In a flow collection: no sign that ends a word there, in any version of the parser.
_WORD = rf"{_START}(?:(?:[A-Za-z0-9_./=+$@-]|:(?=[A-Za-z0-9_./]))*)"
_ATOM = rf"(?:{_WORD}|{_QUOTED})"


def _flow(value: str) -> str:
    items = rf"\[ *(?:{value} *(?:, *{value} *)*)?\]"
    entries = rf"\{{ *(?:{_KEY}: +{value} *(?:, *{_KEY}: +{value} *)*)?\}}"
    return rf"(?:{_ATOM}|{items}|{entries})"


_VALUE = _flow(_flow(_ATOM))
# Outside of one, only `: ` and ` #` end a word.
_TEXT = r"[A-Za-z0-9_./$](?:[^#:\n]|:(?=[^ \n]))*"
_LINE = re.compile(
    rf"( *)(?:(- +)?(?:({_KEY}):(?: +|$))?({_VALUE}(?= *(?: #|$))|{_TEXT})?(?: *| +#.*)|#.*)",
)
_FLOW_KEY = re.compile(rf"({_KEY}): ")
_NO_KEYS = frozenset({"null", "Null", "NULL"})


_Parts = tuple[int, int, "str | None", "str | None", tuple[str, ...]]
"""The column, the width of a dash, a key, its value, and the keys in that. A comment has none of them."""


@functools.lru_cache(maxsize=8192)  # the specs of a repository have many lines in common
def _parts(line: str) -> _Parts | None:
    """Return the parts of a line; None for one that is not plain."""
    match = _LINE.fullmatch(line) if len(line) <= _LONGEST_LINE else None
    if match is None:
        return None
    indent, dash, key, value = match.groups()
    if key is None and dash is None and value is not None:
        return None
    keys = tuple(_FLOW_KEY.findall(value)) if value is not None and value[0] in "{[" else ()
    if len({*keys}) != len(keys):
        return None  # in two mappings, or twice in one
    return len(indent), len(dash or ""), key, value, keys


@dataclass(frozen=True, slots=True)
class PlainText:
    """``values``: the keys of the outermost mapping with what stands on their line; empty where more lines follow.

    ``items``: key → the items of a list below it; of a mapping among them, its bracket. ``inner``: all other keys.
    """

    values: dict[str, str]
    items: dict[str, tuple[str, ...]]
    inner: frozenset[str]


def plain_text(content: bytes) -> PlainText | None:
    """Return the keys of a text that is plain; None for any other."""
    if len(content) > _LARGEST or not content.isascii() or b"\\" in content:
        return None
    text = content.decode("ascii")
    if not text.replace("\n", "").isprintable():
        return None
    values: dict[str, str] = {}
    items: dict[str, list[str]] = {}
    inner: set[str] = set()
    outer = ""
    # Of each open collection: its column, and its keys, or None for a list.
    stack: list[tuple[int, set[str] | None]] = [(0, set())]
    is_open = False
    for line in text.split("\n"):
        if not line:
            continue
        parts = _parts(line)
        if parts is None:
            return None
        column, dash, key, value, known = parts
        if key is None and not dash:
            continue
        if column > stack[-1][0]:
            if not is_open or len(stack) > _DEEPEST:
                return None
            stack.append((column, None if dash else set()))
        else:
            while column < stack[-1][0]:
                stack.pop()
            if column != stack[-1][0]:
                return None
        keys = stack[-1][1]
        if dash:
            if keys is not None:
                return None
            if len(stack) == 2:
                items.setdefault(outer, []).append(value or "" if key is None else "{")
            if key is not None:
                keys = set()
                stack.append((column + dash, keys))
            elif value is None:
                return None
        if key is not None:
            if keys is None or key in keys or key in _NO_KEYS:
                return None
            keys.add(key)
            if len(stack) == 1:
                outer = key
                values[key] = value or ""
            else:
                inner.add(key)
        inner.update(known)
        is_open = value is None
    if not values:
        return None
    return PlainText(values, {name: tuple(found) for name, found in items.items()}, frozenset(inner))
