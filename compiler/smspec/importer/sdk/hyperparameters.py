"""Hyperparameters as the SDK sends them: as JSON by frameworks, by `str` by estimators of plain images."""

from __future__ import annotations

import json

from smspec.importer.sdk.values import Entries, Items, Text, Unknown, Value, is_constant
from smspec.importer.sdk.variables import NotResolved, Variables

_CHANGED = "a loop, a branch, or another function changes it"


def hyperparameters(
    values: Value, variables: Variables, *, as_json: bool, is_serialized: bool = False
) -> dict[str, object]:
    """Return HyperParameters; raise `NotResolved` if their names, or a value that is no scalar, are not known.

    ``is_serialized``: strings are sent as they are, and everything else as JSON.
    """
    if values is None:
        return {}
    if not isinstance(values, Entries) or not values.is_known:
        raise NotResolved(_CHANGED if isinstance(values, Entries) else "its value is known only when the program runs")
    return {
        str(name): _sent(str(name), value, variables, as_json or (is_serialized and not _is_text(value)))
        for name, value in values.values.items()
    }


def _sent(name: str, value: Value, variables: Variables, as_json: bool) -> str:
    if isinstance(value, Unknown):
        return json.dumps(variables.mark(value, name)) if as_json else variables.mark(value, name)
    if isinstance(value, Items | Entries) and not _is_certain(value):
        raise NotResolved(f"a part of `{name}` is known only when the program runs")
    plain = variables.json(value, name)
    if as_json:
        return json.dumps(plain)
    if isinstance(value, Items) and value.is_fixed:
        return str(tuple(plain)) if isinstance(plain, list) else str(plain)
    return str(plain)


def _is_text(value: Value) -> bool:
    return isinstance(value, str | Text | Unknown)


def _is_certain(value: Value, depth: int = 0) -> bool:
    """Return whether all parts are constants or strings; a part that may be a number has no text of its own."""
    if isinstance(value, Items | Entries):
        inner = value.values if isinstance(value, Items) else value.values.values()
        return value.is_known and depth < 20 and all(_is_certain(item, depth + 1) for item in inner)
    return is_constant(value) or isinstance(value, Text) or (isinstance(value, Unknown) and value.is_text)
