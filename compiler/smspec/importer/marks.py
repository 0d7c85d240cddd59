"""Marks in a request: texts that stand for a variable of the spec until the spec is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BEGINNING = "@@smspec:"
MARK = re.compile(rf"{_BEGINNING}([a-z0-9_]+)@@")


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
