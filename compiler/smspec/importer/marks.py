"""Marks in a request, and the nodes that its values become in a spec.

A mark is a text that stands for a variable of the spec until the spec is written. A node says which strings need
quotes, and how to write `${{`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from smspec.source import Mapping as MappingNode
from smspec.source import Node, Scalar, Sequence, Span
from smspec.spec.yaml.events import meaning

_BEGINNING = "@@smspec:"
MARK = re.compile(rf"{_BEGINNING}([a-z0-9_]+)@@")

_NOWHERE = Span("", 1, 1, 1, 1)
_OPEN = "${{"
DOLLAR = "dollar"
"""The variable for a dollar sign before ``{{``: written out, the two would start a variable."""

# Strings that some YAML parser, or some reader, takes for a number, a date, a time, true, false, or null.
_LIKE_A_NUMBER = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoO_.,:+-]*([ tT][0-9:.]+[zZ]?)?|[-+]?\.(inf|Inf|INF|nan|NaN|NAN)")
_LIKE_A_WORD = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "nan", "inf", "infinity"))


def mark(name: str) -> str:
    """Return the mark of a variable."""
    return f"{_BEGINNING}{name}@@"


def holds_mark(text: str) -> bool:
    """Return whether a text contains the beginning of a mark."""
    return _BEGINNING in text


def is_mark(value: object) -> bool:
    """Return whether a value is one mark and nothing else."""
    return isinstance(value, str) and MARK.fullmatch(value) is not None


def with_references(text: str) -> str:
    """Return a text with references to variables, as a spec writes them, instead of marks."""
    return MARK.sub(r"${{ vars.\1 }}", text) if _BEGINNING in text else text


def filled(value: object, values: Mapping[str, object]) -> object:
    """Return a request with values instead of marks. In a string that is JSON, the value is written as JSON."""
    if isinstance(value, dict):
        return {name: filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    if not isinstance(value, str) or _BEGINNING not in value:
        return value
    whole = MARK.fullmatch(value)
    if whole:
        return values.get(whole[1], value)
    quoted = MARK.fullmatch(value[1:-1]) if value[0] == value[-1] == '"' else None
    if quoted and quoted[1] in values:
        return json.dumps(values[quoted[1]])
    return MARK.sub(lambda match: str(values.get(match[1], match[0])), value)


def node(value: object) -> Node:
    """Return a value as a node; return a node unchanged."""
    if isinstance(value, Scalar | MappingNode | Sequence):
        return value
    if isinstance(value, dict):
        return MappingNode(tuple((text(str(key)), node(inner)) for key, inner in value.items()), _NOWHERE)
    if isinstance(value, list):
        return Sequence(tuple(node(item) for item in value), _NOWHERE)
    if isinstance(value, str):
        return text(value)
    return bare(_json_word(value))


def text(value: str) -> Scalar:
    """Return a string, without quotes where it cannot be mistaken for anything else.

    The node is written with `DOLLAR` where necessary; its value is the resulting string.
    """
    written = with_references(value.replace(_OPEN, f"${{{{ vars.{DOLLAR} }}}}{_OPEN[1:]}"))
    plain = written == value and bool(value) and not _looks_like_more(value) and meaning(value) == value
    return Scalar(written, value, plain, _NOWHERE)


def bare(word: str) -> Scalar:
    """Return a number, true, false or null by its spelling."""
    return Scalar(word, meaning(word), True, _NOWHERE)


def holds_dollar(value: Node) -> bool:
    """Return whether a part of a value is written with `DOLLAR`."""
    if isinstance(value, Scalar):
        return f"vars.{DOLLAR} }}}}" in value.text
    return any(map(holds_dollar, value.items if isinstance(value, Sequence) else [v for _, v in value.entries]))


def _looks_like_more(value: str) -> bool:
    return value.lower() in _LIKE_A_WORD or _LIKE_A_NUMBER.fullmatch(value) is not None


def _json_word(value: object) -> str:
    words = {"Infinity": ".inf", "-Infinity": "-.inf", "NaN": ".nan"}
    word = json.dumps(value)
    return words.get(word, word)
