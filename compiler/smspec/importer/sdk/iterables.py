"""What functions of Python make of lists and mappings whose items are known: `enumerate`, `zip`, `range`, `sorted`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec.importer.sdk.values import Entries, SdkItems, Value, is_constant

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_ITEMS = 2_000
"""The maximum number of items that a function makes: products grow without limit."""

_OF_LISTS: dict[str, Callable[..., Iterable[object]]] = {
    "zip": zip,
    "itertools.product": itertools.product,
    "itertools.chain": itertools.chain,
    "itertools.zip_longest": itertools.zip_longest,
}
_OF_A_LIST_AND_A_NUMBER: dict[str, Callable[..., Iterable[object]]] = {
    "enumerate": enumerate,
    "itertools.combinations": itertools.combinations,
    "itertools.permutations": itertools.permutations,
}
_OF_NUMBERS: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "sum": sum}


def iterated(name: str, positional: list[Value], named: dict[str, Value]) -> Value | None:
    """Return the result of a function that iterates, by its name; None if it is another, or not known."""
    if name == "range":
        return None if named else _range(positional)
    if name == "sorted" and len(positional) == 1 and named.keys() <= {"reverse"}:
        return _sorted(positional[0], named.get("reverse", False))
    if name == "reversed" and len(positional) == 1 and not named:
        values = taken(positional[0])
        return None if values is None else _once(values[::-1])
    if name == "dict.fromkeys" and 1 <= len(positional) <= 2 and not named:
        keys = taken(positional[0])
        value = positional[1] if len(positional) == 2 else None
        is_plain = keys is not None and all(isinstance(key, str | int | float) for key in keys)
        return Entries(dict.fromkeys(keys or (), value)) if is_plain else None
    if name in _OF_NUMBERS and positional and not named:
        return _number(name, positional)
    if name == "enumerate" and (len(positional) == 2 or named.keys() <= {"start"}):
        return _made(name, positional[:1], [*positional[1:], *named.values()])
    if name in _OF_A_LIST_AND_A_NUMBER and name != "enumerate" and not named:
        return _made(name, positional[:1], positional[1:])
    return _made(name, positional, []) if name in _OF_LISTS and not named else None


def taken(value: Value) -> list[Value] | None:
    """Return the items of a list or mapping, which an iterator has only once; None if they are not known."""
    if isinstance(value, SdkItems) and value.is_known:
        value.is_known = not value.is_once
        return list(value.values)
    if isinstance(value, Entries) and value.is_known:
        return [key for key in value.values if isinstance(key, bool | int | float | str | None)]
    return None


def _once(values: Iterable[Value]) -> SdkItems:
    found = SdkItems(list(values), is_fixed=True)
    found.is_once = True
    return found


def _made(name: str, lists: list[Value], numbers: list[Value]) -> Value | None:
    """Return the items that a function makes of lists, as an iterator; tuples if it makes tuples."""
    if not all(type(number) is int for number in numbers):
        return None
    known = list(map(taken, lists))
    if None in known:
        return None
    function = _OF_LISTS.get(name) or _OF_A_LIST_AND_A_NUMBER[name]
    try:
        made = list(itertools.islice(function(*known, *numbers), _MOST_ITEMS + 1))
    except (TypeError, ValueError):
        return None
    if len(made) > _MOST_ITEMS:
        return None
    if name == "itertools.chain":
        return _once(made)  # type: ignore[arg-type]  # the items of the lists
    return _once(SdkItems(list(item), is_fixed=True) for item in made)  # type: ignore[call-overload]


def _range(bounds: list[Value]) -> Value | None:
    if not 1 <= len(bounds) <= 3 or not all(type(bound) is int for bound in bounds):
        return None
    try:
        found = range(*bounds)  # type: ignore[arg-type]  # they are whole numbers
    except ValueError:
        return None
    return SdkItems(list(found), is_fixed=True) if len(found) <= _MOST_ITEMS else None


def _sorted(value: Value, is_reversed: Value) -> Value | None:
    values = taken(value)
    if values is None or not isinstance(is_reversed, bool):
        return None
    keys = [_comparable(each) for each in values]
    try:
        order = sorted(range(len(values)), key=lambda index: keys[index], reverse=is_reversed)  # type: ignore[arg-type,return-value]
    except TypeError:
        return None
    return None if ... in keys else SdkItems([values[index] for index in order])


def _comparable(value: Value) -> object:
    """Return a constant, or a tuple of them; `...` for anything else."""
    if isinstance(value, SdkItems) and value.is_fixed:
        return value.constant()
    return value if is_constant(value) else ...


def _number(name: str, given: list[Value]) -> Value | None:
    values = taken(given[0]) if len(given) == 1 else given if name != "sum" else None
    if not values or not all(type(value) in (int, float) for value in values):
        return 0 if values == [] and name == "sum" else None
    return _OF_NUMBERS[name](values)  # type: ignore[arg-type]  # they are numbers
