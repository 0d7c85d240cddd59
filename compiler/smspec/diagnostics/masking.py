"""A text as it is shown: with every secret in it blackened, character by character, or replaced whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from smspec.diagnostics.secrets import is_named_secret, may_name_a_secret, names_a_secret, written_secrets

MASK = "*"

HIDDEN = "********"
"""What stands for a secret where no column has to stay. Its length says nothing about the secret's."""

# `name: value` in YAML, `"name": "value"` in JSON, `name=value` and `--name=value` in commands. Every stretch has a
# longest length: a text may hold a thousand beginnings of an assignment in one line.
_NAMED = (
    r"""(?P<before>^|[{,\[(\s;"']|(?<![\w.])-)(?P<name>[A-Za-z_][\w.-]{0,127})"""
    r"""["']?[ \t]{0,64}(?::[ \t]+|:(?=["'\n])|=[ \t]*)(?:[&!]\S{1,64}[ \t]+)?"""
)
_VALUE = (
    r"""\"(?:\\.|[^"\\\n]){SO_MANY}"?|'(?:''|[^'\n]){SO_MANY}'?"""
    r"""|[|>][+-]?[0-9]?[+-]?[ \t]*(?:\n(?:[ \t]+[^\n]{SO_MANY}|(?=\n))){LINES}"""
    r"""|(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY})(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY}){LINES}"""
    r"""|[^\s"'][^\n]{SO_MANY}"""
)
# Its beginning says whether a value is a secret; only of one that is, the end is looked for.
_BEGINNING = _VALUE.replace("{SO_MANY}", "{0,200}").replace("{LINES}", "{0,4}")
_MOST_NAMED = 10_000
"""Of a text with more values under names of secrets, the rest is masked unread."""
_WHOLE = _VALUE.replace("{SO_MANY}", "*").replace("{LINES}", "*")
# A tag in a request: its key and its value are two members.
_PAIR = (
    r"""\bKey["']?[ \t]*:[ \t]*["']?(?P<name>[\w.-]+)["']?(?:[ \t]*,)?\s*"""
    r"""["']?Value["']?[ \t]*:[ \t]*(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s,}]+)"""
)
_FLOW_END = r"[,}\]]"
_COMMENT = r"[ \t]#"


def masked(text: str) -> str:
    """Return ``text`` with every character of a secret replaced; lines and columns stay where they are."""
    return _without_secrets(text, _blackened)


def hidden(text: str) -> str:
    """Return ``text`` with every secret replaced by `HIDDEN`, for where nothing points into it."""
    return _without_secrets(text, lambda _: HIDDEN)


def _without_secrets(text: str, shown_as: Callable[[str], str]) -> str:
    shown, end = [], 0
    for start, stop in _apart(_spans(text)):
        shown += [text[end:start], shown_as(text[start:stop])]
        end = stop
    return "".join([*shown, text[end:]]) if shown else text


def _apart(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where there are secrets, in order, as one what overlaps: a secret may be known in two ways."""
    start = stop = 0
    for begin, end in sorted(spans):
        if begin > stop:
            if stop > start:
                yield start, stop
            start = begin
        stop = max(stop, end)
    if stop > start:
        yield start, stop


def _blackened(text: str) -> str:
    return "".join(character if character in "\r\n" else MASK for character in text)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand, from offset to offset, in no order; some more than once."""
    yield from (found.span() for _, found in written_secrets(text))
    if may_name_a_secret(text):
        yield from _in_pairs(text)
        yield from _in_assignments(text)


def _in_pairs(text: str) -> Iterator[tuple[int, int]]:
    for pair in re.finditer(_PAIR, text):
        if is_named_secret(pair["name"], pair["value"].strip("\"'")):
            yield pair.span("value")


def _in_assignments(text: str) -> Iterator[tuple[int, int]]:
    named, beginning, whole = re.compile(_NAMED, re.MULTILINE), re.compile(_BEGINNING), re.compile(_WHOLE)
    position, left = 0, _MOST_NAMED
    while match := named.search(text, position):
        position = match.end()
        value = beginning.match(text, position) if names_a_secret(match["name"]) else None
        if value is None:
            continue
        left -= 1
        if not left:
            yield position, len(text)
            return
        start, stop = _value_span(match["before"], value)
        if is_named_secret(match["name"], text[start:stop].strip("\"'")):
            start, stop = _value_span(match["before"], whole.match(text, position) or value)
            yield start, stop
            position = max(position, stop)


def _value_span(before: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the value of an assignment stands, without its quotes."""
    start, stop = match.span()
    value = match[0]
    if value[0] in "\"'":
        return start + 1, stop - (len(value) > 1 and value[-1] == value[0])
    if value[0] in "|>\n":
        return start, stop
    if value[0] == "[" and "]" in value:
        return start, start + value.index("]") + 1
    ends = [found.start() for found in (re.search(_COMMENT, value),) if found]
    if before in ("{", ",", "[", "("):
        ends += [found.start() for found in (re.search(_FLOW_END, value),) if found]
    return start, start + len(value[: min(ends, default=len(value))].rstrip())
