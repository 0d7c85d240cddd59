"""A text as it is shown: with every secret in it blackened, character by character, or replaced whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secrets import is_named_secret, names_a_secret, secret_in
from smspec_runtime.secret_names import may_name_a_secret

MASK = "*"

HIDDEN = "********"
"""What stands for a secret where no column has to stay. Its length says nothing about the secret's."""

# `name: value` in YAML, `"name": "value"` in JSON, `name=value` and `--name=value` in commands, connection strings and
# addresses. Every stretch has a longest length: a text may hold a thousand beginnings of an assignment in one line.
_NAMED = (
    r"""(?P<before>^|[{,\[(\s;"'?&]|(?<![\w.])-)(?P<name>[A-Za-z_][\w.-]{0,127})"""
    r"""(?:\\{0,3}["'])?[ \t]{0,64}(?::[ \t]+|:(?=\\{0,3}["'\n])|=[ \t]*)(?:[&!]\S{1,64}[ \t]+)?"""
)
_VALUE = (
    r"""\"(?:\\.|[^"\\\n]){SO_MANY}"?|'(?:''|[^'\n]){SO_MANY}'?|\\{1,3}["'](?:[^"'\\\n]|\\(?!["'\\])){SO_MANY}"""
    r"""|[|>][+-]?[0-9]?[+-]?[ \t]*(?:\n(?:[ \t]+[^\n]{SO_MANY}|(?=\n))){LINES}"""
    r"""|(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY})(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY}){LINES}"""
    r"""|[^\s"'][^\n]{SO_MANY}"""
)
# Its beginning says whether a value is a secret; only of one that is, the end is looked for.
_BEGINNING = _VALUE.replace("{SO_MANY}", "{0,200}").replace("{LINES}", "{0,4}")
_MOST_NAMED = 10_000
"""Of a text with more values under names of secrets, the rest is masked unread."""
_WHOLE = _VALUE.replace("{SO_MANY}", "*").replace("{LINES}", "*")
# `--name value` in a command, and as two items of a list in YAML or JSON.
_OPTION = (
    r"""(?<![\w-])--(?P<name>[A-Za-z][\w.-]{0,127})"""
    r"""(?:[ \t]{1,64}|["']?[ \t]{0,64},\s{0,64}["']?|["']?[ \t]{0,64}\n[ \t]{0,64}-[ \t]{1,64}["']?)"""
    r"""(?P<value>(?![-&|])[^\s"',\]]+)"""
)
# What a mapping under the name of a secret holds: `db_password: {default: hunter2}`.
_INNER = (
    r"""(?:^[ \t]+|[{,][ \t]*)["']?(?P<name>[\w-]{1,64})["']?:(?:[ \t]+|(?=["']))"""
    r"""(?P<value>\"[^"\n]*"|'[^'\n]*'|\[[^\]\n]*\]|[^\s"'{\[,}][^,}\n]*)"""
)
_INNER_HARMLESS = frozenset(
    {"env", "file", "arn", "name", "ref", "from", "id", "type", "description", "title", "path", "key_id"}
)
_MOST_INNER = 2_000
"""Characters of such a mapping that are read."""
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


def without_tokens(text: str) -> str:
    """Return a name, or words of ours around one, with secrets of known formats hidden: nothing in it is a value."""
    return _without_spans(text, (found.span() for _, found in written_secrets(text)), lambda _: HIDDEN)


def secret_of(name: str, value: str) -> str | None:
    """Return what secret a value is or holds, given the name it stands under; None for none."""
    return secret_in(name, value) or ("a secret" if masked(value) != value else None)


def hidden(text: str) -> str:
    """Return ``text`` with every secret replaced by `HIDDEN`, for where nothing points into it."""
    return _without_secrets(text, lambda _: HIDDEN)


def _without_secrets(text: str, shown_as: Callable[[str], str]) -> str:
    return _without_spans(text, _spans(text), shown_as)


def _without_spans(text: str, spans: Iterable[tuple[int, int]], shown_as: Callable[[str], str]) -> str:
    shown, end = [], 0
    for start, stop in _apart(spans):
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
        yield from _in_pairs(_PAIR, text)
        yield from _in_pairs(_OPTION, text)
        yield from _in_assignments(text)


def _in_pairs(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    for pair in re.finditer(pattern, text):
        if is_named_secret(pair["name"], pair["value"].strip("\"'")):
            yield pair.span("value")


def _in_mapping(name: str, text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the secrets of a mapping that stands under the name of one, from ``start`` on."""
    mapping = _mapping_at(text, start)
    for inner in re.finditer(_INNER, mapping, re.MULTILINE):
        value = inner["value"].strip("\"'")
        if inner["name"].lower() not in _INNER_HARMLESS and is_named_secret(name, value):
            yield start + inner.start("value"), start + inner.end("value")


def _mapping_at(text: str, start: int) -> str:
    """Return a mapping in flow style, or the lines that are further in than the one before ``start``."""
    if text[start] == "{":
        return text[start : min(start + _MOST_INNER, text.find("}", start) + 1 or len(text))]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    further_in = " " * (len(line) - len(line.lstrip(" -")) + 1)
    end = start
    for below in text[start : start + _MOST_INNER].split("\n")[1:]:
        if below.strip() and not below.startswith(further_in):
            break
        end += 1 + len(below)
    return text[start:end]


def _in_assignments(text: str) -> Iterator[tuple[int, int]]:
    named, beginning, whole = re.compile(_NAMED, re.MULTILINE), re.compile(_BEGINNING), re.compile(_WHOLE)
    position, left = 0, _MOST_NAMED
    while match := named.search(text, position):
        position = match.end()
        if not names_a_secret(match["name"]):
            continue
        left -= 1
        if not left:
            yield position, len(text)
            return
        value = beginning.match(text, position)
        if text[position : position + 1] == "{" or (value is None and text[position : position + 1] == "\n"):
            yield from _in_mapping(match["name"], text, position)
            continue
        if value is None:
            continue
        start, stop = _value_span(match["before"], value)
        if is_named_secret(match["name"], text[start:stop].strip("\"'")):
            start, stop = _value_span(match["before"], whole.match(text, position) or value)
            yield start, stop
            position = max(position, stop)


def _value_span(before: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the value of an assignment stands, without its quotes."""
    start, stop = match.span()
    value = match[0]
    if value[0] == "\\":
        return start + len(value) - len(value.lstrip("\\")) + 1, stop
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
