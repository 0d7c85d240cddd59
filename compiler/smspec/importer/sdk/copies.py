"""Copies of what a program can change."""

from __future__ import annotations

from copy import copy

from smspec.importer.sdk.values import Collection, Value, lifted
from smspec.script.follow.values import Bound


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
