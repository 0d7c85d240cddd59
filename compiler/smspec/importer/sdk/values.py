"""The values of a program that is only read, and its names at one place.

Values are constants of Python's own, collections, objects of the SDK, and unknown ones; lists and mappings are mutable,
as in the program, and can become unknown later. Names are copied for branches, and say what is known after either.
"""

from __future__ import annotations

import ast
from typing import Union

from smspec.source.frozen import dataclass, field

LONGEST = 20_000
"""Characters of a string, and items of a collection: no request has more."""


class SdkUnknown:
    """A value that only a run has. ``name`` is what the program calls it; ``is_text`` if it is certainly a string.

    An unknown value is equal to itself only. Copies of a state share it.
    """

    __slots__ = ("is_text", "name")

    def __init__(self, name: str = "", *, is_text: bool = False) -> None:
        self.name = name
        self.is_text = is_text

    def __deepcopy__(self, _: object) -> SdkUnknown:
        return self


@dataclass(frozen=True, slots=True)
class SdkText:
    """A string with unknown parts."""

    parts: tuple[Union[str, SdkUnknown], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """Something of a module, by its full name; or the module."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value."""

    owner: Value
    name: str


class SdkFunction:
    """A function of the program."""

    __slots__ = ("node",)

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node

    def __deepcopy__(self, _: object) -> SdkFunction:
        return self


class SdkItems:
    """A list or, if ``is_fixed``, a tuple."""

    __slots__ = ("is_fixed", "is_known", "values")

    def __init__(self, values: list[Value], *, is_fixed: bool = False) -> None:
        self.values = values
        self.is_fixed = is_fixed
        self.is_known = len(values) <= LONGEST


class Entries:
    """A mapping with constant keys."""

    __slots__ = ("is_known", "values")

    def __init__(self, values: dict[object, Value]) -> None:
        self.values = values
        self.is_known = len(values) <= LONGEST


class SdkInstance:
    """An object of the SDK: the full name of its class, or of the function that returned it, and the arguments.

    ``name`` is that of the first variable that it was assigned to; ``place`` is where it was created.
    """

    __slots__ = ("arguments", "is_known", "kind", "name", "place", "positional")

    def __init__(self, kind: str, positional: list[Value], arguments: dict[str, Value], place: SdkPlace) -> None:
        self.kind = kind
        self.positional = positional
        self.arguments = arguments
        self.name = ""
        self.place = place
        self.is_known = True


@dataclass(frozen=True, slots=True)
class SdkPlace:
    """A line of a cell; the cell is 0 in a program."""

    cell: int = 0
    line: int = field(default=0)

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"


Value = Union[
    None, bool, int, float, str, SdkUnknown, SdkText, Reference, Method, SdkFunction, SdkItems, Entries, SdkInstance
]
Collection = (SdkItems, Entries, SdkInstance)


def is_constant(value: Value) -> bool:
    """Return whether a value is a number, a string, true, false, or None."""
    return value is None or isinstance(value, bool | int | float | str)


def joined(*parts: Value) -> Value:
    """Return the concatenation of strings; unknown if a part is neither a string nor unknown."""
    found: list[str | SdkUnknown] = []
    for part in parts:
        for piece in part.parts if isinstance(part, SdkText) else (part,):
            if isinstance(piece, str) and found and isinstance(found[-1], str):
                found[-1] += piece
            elif isinstance(piece, str | SdkUnknown):
                found.append(piece)
            else:
                return SdkUnknown()
    kept = tuple(piece for piece in found if piece != "")
    if sum(len(piece) if isinstance(piece, str) else 1 for piece in kept) > LONGEST:
        return SdkUnknown(is_text=True)
    if not kept:
        return ""
    return kept[0] if len(kept) == 1 and isinstance(kept[0], str) else SdkText(kept)


def text_of(value: Value) -> Value:
    """Return what `str` makes of a value."""
    if isinstance(value, str | SdkText):
        return value
    if is_constant(value):
        return str(value)
    return SdkText((value,)) if isinstance(value, SdkUnknown) else SdkUnknown(is_text=True)


def same(one: Value, two: Value, depth: int = 0) -> bool:
    """Return whether two values are certainly equal."""
    if one is two:
        return True
    if type(one) is not type(two) or depth > 20:
        return False
    if isinstance(one, SdkItems) and isinstance(two, SdkItems):
        return (
            one.is_known
            and two.is_known
            and one.is_fixed == two.is_fixed
            and len(one.values) == len(two.values)
            and all(same(a, b, depth + 1) for a, b in zip(one.values, two.values, strict=True))
        )
    if isinstance(one, Entries) and isinstance(two, Entries):
        return one.is_known and two.is_known and _same_entries(one.values, two.values, depth)
    if isinstance(one, SdkInstance) and isinstance(two, SdkInstance):
        return (
            (one.kind, one.place, one.is_known) == (two.kind, two.place, two.is_known)
            and one.is_known
            and len(one.positional) == len(two.positional)
            and all(same(a, b, depth + 1) for a, b in zip(one.positional, two.positional, strict=True))
            and _same_entries(one.arguments, two.arguments, depth)
        )
    return isinstance(one, bool | int | float | str | SdkText | Reference) and one == two


def _same_entries(one: dict, two: dict, depth: int) -> bool:  # type: ignore[type-arg]
    return list(one) == list(two) and all(same(one[name], two[name], depth + 1) for name in one)


Names = dict[str, Value]


def copied(value: Value, memo: dict[int, Value]) -> Value:
    """Return a copy of a collection, with the collections in it; other values cannot change and are shared."""
    if isinstance(value, Method):
        return Method(copied(value.owner, memo), value.name)
    if not isinstance(value, Collection):
        return value
    found = memo.get(id(value))
    if found is not None:
        return found
    copy: SdkItems | Entries | SdkInstance
    if isinstance(value, SdkItems):
        copy = memo[id(value)] = SdkItems([], is_fixed=value.is_fixed)
        copy.values = [copied(item, memo) for item in value.values]
    elif isinstance(value, Entries):
        copy = memo[id(value)] = Entries({})
        copy.values = {key: copied(item, memo) for key, item in value.values.items()}
    else:
        copy = memo[id(value)] = SdkInstance(value.kind, [], {}, value.place)
        copy.name = value.name
        copy.positional = [copied(item, memo) for item in value.positional]
        copy.arguments = {key: copied(item, memo) for key, item in value.arguments.items()}
    copy.is_known = value.is_known
    return copy


def copied_names(names: Names, memo: dict[int, Value]) -> Names:
    """Return a copy of all names and their values."""
    return {name: copied(value, memo) for name, value in names.items()}


def merge_names(names: Names, others: Names, *, keeps_new: bool) -> None:
    """Keep what is equal after two branches; ``names`` is changed.

    ``keeps_new``: a name that only the first branch has keeps its value.
    """
    done: set[tuple[int, int]] = set()
    for name in list(dict.fromkeys((*names, *others))):
        if name in names and name in others:
            names[name] = merged(names[name], others[name], done, name)
        elif name in others or not keeps_new:
            names[name] = SdkUnknown(name)


def merged(one: Value, two: Value, done: set[tuple[int, int]], name: str = "") -> Value:
    """Return what is known of a value after two branches. A collection becomes what both have, in place."""
    if one is two or (not isinstance(one, Collection) and same(one, two)):
        return one
    if isinstance(one, SdkUnknown) and isinstance(two, SdkUnknown):
        return one if one.is_text <= two.is_text else two
    if not _is_mergeable(one, two):
        forget(one)
        return SdkUnknown(name)
    if (id(one), id(two)) in done:
        return one
    done.add((id(one), id(two)))
    if isinstance(one, SdkItems) and isinstance(two, SdkItems):
        one.is_known = one.is_known and two.is_known and len(one.values) == len(two.values)
        one.values = [merged(a, b, done) for a, b in zip(one.values, two.values, strict=False)]
    elif isinstance(one, Entries) and isinstance(two, Entries):
        one.is_known = one.is_known and two.is_known and list(one.values) == list(two.values)
        one.values = {k: merged(v, two.values[k], done, str(k)) for k, v in one.values.items() if k in two.values}
    elif isinstance(one, SdkInstance) and isinstance(two, SdkInstance):
        one.is_known = one.is_known and two.is_known
        one.positional = [merged(a, b, done) for a, b in zip(one.positional, two.positional, strict=True)]
        names = list(dict.fromkeys((*one.arguments, *two.arguments)))
        one.arguments = {
            k: merged(one.arguments[k], two.arguments[k], done, k)
            if k in one.arguments and k in two.arguments
            else SdkUnknown(k)
            for k in names
        }
    return one


def _is_mergeable(one: Value, two: Value) -> bool:
    if isinstance(one, SdkInstance) and isinstance(two, SdkInstance):
        return (one.kind, one.place) == (two.kind, two.place) and len(one.positional) == len(two.positional)
    return isinstance(one, SdkItems | Entries) and type(one) is type(two)


def forget(value: Value, done: set[int] | None = None) -> None:
    """Treat a collection, and all that it contains, as changed by unknown code."""
    seen = set[int]() if done is None else done
    if isinstance(value, Method):
        value = value.owner
    if not isinstance(value, Collection) or id(value) in seen:
        return
    seen.add(id(value))
    value.is_known = False
    inner = (
        value.values
        if isinstance(value, SdkItems)
        else value.values.values()
        if isinstance(value, Entries)
        else [*value.positional, *value.arguments.values()]
    )
    for item in inner:
        forget(item, seen)
