"""Convert values to nodes of a spec: which strings need quotes, and how to write `${{`."""

from __future__ import annotations

import json
import re

from smspec.importer.marks import with_references
from smspec.source import Mapping, Node, Scalar, Sequence, Span
from smspec.spec.yaml.scalars import meaning

_NOWHERE = Span("", 1, 1, 1, 1)
_OPEN = "${{"
DOLLAR = "dollar"
"""The variable for a dollar sign before ``{{``: written out, the two would start a variable."""

# Strings that some YAML parser, or some reader, takes for a number, a date, a time, true, false, or null.
_LIKE_A_NUMBER = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoO_.,:+-]*([ tT][0-9:.]+[zZ]?)?|[-+]?\.(inf|Inf|INF|nan|NaN|NAN)")
_LIKE_A_WORD = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "nan", "inf", "infinity"))


def node(value: object) -> Node:
    """Return a value as a node; return a node unchanged."""
    if isinstance(value, Scalar | Mapping | Sequence):
        return value
    if isinstance(value, dict):
        return Mapping(tuple((text(str(key)), node(inner)) for key, inner in value.items()), _NOWHERE)
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
