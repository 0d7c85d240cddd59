"""What functions of Python make of collections and texts: copies, JSON, and what is in a file.

A file is not read: a job may come from one that is not there, or that is another when the program runs.
"""

from __future__ import annotations

import json
from copy import copy

from smspec.importer.sdk.iterables import iterated, taken
from smspec.importer.sdk.values import Collection, Entries, SdkItems, SdkUnknown, Value, lifted
from smspec.script.follow.values import Bound

_LONGEST_TEXT = 1 << 20
_DEEPEST = 40
_OPENERS = frozenset(("open", "io.open", "codecs.open", "smart_open.open"))
_PARSERS = ("json.load", "json.loads", "yaml.safe_load", "yaml.load", "yaml.full_load", "toml.load", "toml.loads")
_READS = frozenset(("read", "read_text", "open", "read_bytes", "decode", "strip"))


def converted(name: str, positional: list[Value], named: dict[str, Value]) -> Value | None:
    """Return the result of a function, by its name; None if it is another function, or not known."""
    if name == "dict" and len(positional) <= 1:
        return _dict(positional[0] if positional else Entries({}), named)
    if name in ("list", "tuple") and len(positional) == 1 and not named:
        return _items(positional[0], is_fixed=name == "tuple")
    made = iterated(name, positional, named)
    if made is not None:
        return made
    first = positional[0] if positional else next(iter(named.values()), None)
    if name in _OPENERS:
        return SdkUnknown(file=first) if isinstance(first, str) else None
    if name in _PARSERS:
        if isinstance(first, SdkUnknown) and first.file:
            return SdkUnknown(file=first.file)
        if name == "json.loads" and isinstance(first, str) and len(positional) == 1 and not named:
            return _parsed(first)
    return None


def read_from(owner: Value, name: str) -> Value | None:
    """Return what a method of an open file, or of its text, returns."""
    if isinstance(owner, SdkUnknown) and owner.file and name in _READS:
        return SdkUnknown(file=owner.file, is_text=name != "open")
    return None


def _dict(first: Value, named: dict[str, Value]) -> Value:
    found = Entries({})
    if isinstance(first, SdkItems):
        first = _of_pairs(first)
    found.update(first, named)
    return found


def _of_pairs(listed: SdkItems) -> Entries:
    """Return the mapping of pairs of keys and values."""
    found = Entries({}, is_known=listed.is_known)
    taken(listed)
    for pair in listed.values:
        values = pair.values if isinstance(pair, SdkItems) and pair.is_known else []
        if len(values) == 2 and isinstance(values[0], str | int | float):
            found.values[values[0]] = values[1]
        else:
            found.is_known = False
    return found


def _items(value: Value, *, is_fixed: bool) -> Value | None:
    if isinstance(value, SdkItems) and not value.is_known:
        return SdkItems(list(value.values), is_fixed=is_fixed, is_known=False)
    values = taken(value)
    return None if values is None else SdkItems(values, is_fixed=is_fixed)


def _parsed(text: str) -> Value | None:
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        return _value(json.loads(text), 0)
    except (ValueError, RecursionError):
        return None


def _value(data: object, depth: int) -> Value:
    if depth > _DEEPEST:
        return SdkUnknown()
    if isinstance(data, dict):
        return Entries({name: _value(value, depth + 1) for name, value in data.items()})
    if isinstance(data, list):
        return SdkItems([_value(value, depth + 1) for value in data])
    return data if data is None or isinstance(data, bool | int | float | str) else SdkUnknown()


def copied(value: Value, memo: dict[int, Collection]) -> Value:
    """Return a copy of a collection, with the collections in it; other values cannot change and are shared."""
    if isinstance(value, Bound):
        return Bound(lifted(copied(value.owner, memo)), value.name)
    if not isinstance(value, Collection):
        return value
    if id(value) not in memo:
        found = memo[id(value)] = copy(value)
        found.fill({key: copied(item, memo) for key, item in value.members().items()})
    return memo[id(value)]


def shallow(value: Value) -> Value:
    """Return a copy of a collection with the same values in it."""
    if not isinstance(value, Collection):
        return value
    found = copy(value)
    found.fill(dict(value.members()))
    return found
