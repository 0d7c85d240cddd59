"""Methods and items of strings, lists, and mappings whose results are known."""

from __future__ import annotations

import string
from collections.abc import Callable

from smspec.importer.sdk.sdk_facts import Surroundings, attribute_of
from smspec.importer.sdk.state import forget
from smspec.importer.sdk.values import (
    LONGEST,
    Entries,
    Instance,
    Items,
    Reference,
    Text,
    Unknown,
    Value,
    is_constant,
    joined,
    text_of,
)

_OF_STRINGS: dict[str, Callable[..., Value]] = {
    name: getattr(str, name)
    for name in (
        *("lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "capitalize"),
        *("startswith", "endswith"),
    )
}
_SAME_LENGTH = 4
"""Arguments of such a method: more would be another method."""


def item_of(owner: Value, key: Value, surroundings: Surroundings) -> Value:
    """Return ``owner[key]``."""
    if isinstance(owner, Entries) and is_constant(key):
        return owner.values[key] if owner.is_known and key in owner.values else Unknown(str(key))
    if isinstance(owner, Items) and isinstance(key, int):
        is_there = owner.is_known and -len(owner.values) <= key < len(owner.values)
        return owner.values[key] if is_there else Unknown()
    if isinstance(owner, str) and isinstance(key, int) and -len(owner) <= key < len(owner):
        return owner[key]
    if isinstance(owner, Unknown | Instance | Reference) and key == "Account":
        return attribute_of(owner, "account_id", surroundings)
    return Unknown(key if isinstance(key, str) and key.isidentifier() else "")


def method_of(owner: Value, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    """Return the result of a method of a value that is no object of the SDK. It changes lists and mappings."""
    if isinstance(owner, str):
        return _of_string(owner, name, positional, named)
    if isinstance(owner, Text):
        return Unknown(is_text=name in _OF_STRINGS and not name.endswith("swith"))
    if isinstance(owner, Entries):
        return _of_mapping(owner, name, positional, named)
    if isinstance(owner, Items):
        return _of_list(owner, name, positional)
    for value in (*positional, *named.values()):
        forget(value)
    return Unknown()


def _of_string(owner: str, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    if name == "format":
        return _format(owner, positional, named)
    if name == "join" and len(positional) == 1 and isinstance(positional[0], Items) and positional[0].is_known:
        parts = [part for item in positional[0].values for part in (owner, item)][1:]
        return joined(*parts) if all(isinstance(part, str | Text | Unknown) for part in parts) else Unknown()
    if name in ("split", "rsplit") and not named and len(positional) <= 1:
        by = positional[0] if positional else None
        if (by is None or isinstance(by, str)) and by != "":
            return Items(list(owner.split(by)))
        return Unknown()
    if name in _OF_STRINGS and not named and all(map(is_constant, positional)) and len(positional) < _SAME_LENGTH:
        if len(owner) * sum(len(part) for part in positional if isinstance(part, str)) > LONGEST * 10:
            return Unknown(is_text=True)
        try:
            found = _OF_STRINGS[name](owner, *positional)
        except TypeError:
            return Unknown()
        return found if not isinstance(found, str) or len(found) <= LONGEST else Unknown(is_text=True)
    return Unknown()


def _format(pattern: str, positional: list[Value], named: dict[str, Value]) -> Value:
    """Return the result of ``format`` with plain fields: ``{}``, ``{0}``, and ``{name}``."""
    parts: list[Value] = []
    automatic = 0
    try:
        for text, field, wanted, conversion in string.Formatter().parse(pattern):
            parts.append(text)
            if field is None:
                continue
            if wanted or conversion not in (None, "s"):
                return Unknown(is_text=True)
            key: object = field
            if field == "":
                key, automatic = automatic, automatic + 1
            elif field.isdigit():
                key = int(field)
            value = positional[key] if isinstance(key, int) else named[str(key)]
            parts.append(text_of(value))
    except (ValueError, KeyError, IndexError):
        return Unknown(is_text=True)
    return joined(*parts)


def _of_mapping(owner: Entries, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    if name == "update" and len(positional) <= 1:
        given = positional[0] if positional else Entries({})
        owner.is_known &= isinstance(given, Entries) and given.is_known
        if isinstance(given, Entries):
            owner.values.update(given.values)
        owner.values.update(named)
        return None
    if name == "copy":
        found = Entries(dict(owner.values))
        found.is_known = found.is_known and owner.is_known
        return found
    is_key = bool(positional) and is_constant(positional[0])
    if not owner.is_known or (not is_key and name in ("get", "pop", "setdefault")):
        owner.is_known &= name in ("get", "keys", "values", "items")
        return Unknown()
    default = positional[1] if len(positional) > 1 else None
    match name:
        case "get":
            return owner.values.get(positional[0], default)
        case "pop":
            return owner.values.pop(positional[0], default)
        case "setdefault":
            return owner.values.setdefault(positional[0], default)
        case "keys":
            return Items([key for key in owner.values if isinstance(key, str | int | float | None)])
        case "values":
            return Items(list(owner.values.values()))
        case "items":
            pairs = owner.values.items()
            return Items([Items([key, item], is_fixed=True) for key, item in pairs if isinstance(key, str | int)])
    forget(owner)
    return Unknown()


def _of_list(owner: Items, name: str, positional: list[Value]) -> Value:
    if name == "append" and len(positional) == 1:
        owner.values.append(positional[0])
        owner.is_known &= len(owner.values) <= LONGEST
        return None
    if name == "extend" and len(positional) == 1 and isinstance(positional[0], Items):
        owner.is_known &= positional[0].is_known and len(owner.values) + len(positional[0].values) <= LONGEST
        if owner.is_known:
            owner.values += positional[0].values
        return None
    if name == "copy":
        found = Items(list(owner.values))
        found.is_known = owner.is_known
        return found
    if name not in ("index", "count"):
        forget(owner)
    return Unknown()
