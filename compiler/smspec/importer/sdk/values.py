"""The values of a program that is only read: constants, collections, objects of the SDK, and unknown ones.

Constants are Python's own. Lists and mappings are mutable, as in the program, and can become unknown later.
"""

from __future__ import annotations

import ast
from typing import Union

from smspec.source.frozen import dataclass, field

LONGEST = 20_000
"""Characters of a string, and items of a collection: no request has more."""


class Unknown:
    """A value that only a run has. ``name`` is what the program calls it; ``is_text`` if it is certainly a string.

    An unknown value is equal to itself only. Copies of a state share it.
    """

    __slots__ = ("is_text", "name")

    def __init__(self, name: str = "", *, is_text: bool = False) -> None:
        self.name = name
        self.is_text = is_text

    def __deepcopy__(self, _: object) -> Unknown:
        return self


@dataclass(frozen=True, slots=True)
class Text:
    """A string with unknown parts."""

    parts: tuple[Union[str, Unknown], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """Something of a module, by its full name; or the module."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value."""

    owner: Value
    name: str


class Function:
    """A function of the program."""

    __slots__ = ("node",)

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node

    def __deepcopy__(self, _: object) -> Function:
        return self


class Items:
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


class Instance:
    """An object of the SDK: the full name of its class, or of the function that returned it, and the arguments.

    ``name`` is that of the first variable that it was assigned to; ``place`` is where it was created.
    """

    __slots__ = ("arguments", "is_known", "kind", "name", "place", "positional")

    def __init__(self, kind: str, positional: list[Value], arguments: dict[str, Value], place: Place) -> None:
        self.kind = kind
        self.positional = positional
        self.arguments = arguments
        self.name = ""
        self.place = place
        self.is_known = True


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a cell; the cell is 0 in a program."""

    cell: int = 0
    line: int = field(default=0)

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"


Value = Union[None, bool, int, float, str, Unknown, Text, Reference, Method, Function, Items, Entries, Instance]
Collection = (Items, Entries, Instance)


def is_constant(value: Value) -> bool:
    """Return whether a value is a number, a string, true, false, or None."""
    return value is None or isinstance(value, bool | int | float | str)


def joined(*parts: Value) -> Value:
    """Return the concatenation of strings; unknown if a part is neither a string nor unknown."""
    found: list[str | Unknown] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Text) else (part,):
            if isinstance(piece, str) and found and isinstance(found[-1], str):
                found[-1] += piece
            elif isinstance(piece, str | Unknown):
                found.append(piece)
            else:
                return Unknown()
    kept = tuple(piece for piece in found if piece != "")
    if sum(len(piece) if isinstance(piece, str) else 1 for piece in kept) > LONGEST:
        return Unknown(is_text=True)
    if not kept:
        return ""
    return kept[0] if len(kept) == 1 and isinstance(kept[0], str) else Text(kept)


def text_of(value: Value) -> Value:
    """Return what `str` makes of a value."""
    if isinstance(value, str | Text):
        return value
    if is_constant(value):
        return str(value)
    return Text((value,)) if isinstance(value, Unknown) else Unknown(is_text=True)


def same(one: Value, two: Value, depth: int = 0) -> bool:
    """Return whether two values are certainly equal."""
    if one is two:
        return True
    if type(one) is not type(two) or depth > 20:
        return False
    if isinstance(one, Items) and isinstance(two, Items):
        return (
            one.is_known
            and two.is_known
            and one.is_fixed == two.is_fixed
            and len(one.values) == len(two.values)
            and all(same(a, b, depth + 1) for a, b in zip(one.values, two.values, strict=True))
        )
    if isinstance(one, Entries) and isinstance(two, Entries):
        return one.is_known and two.is_known and _same_entries(one.values, two.values, depth)
    if isinstance(one, Instance) and isinstance(two, Instance):
        return (
            (one.kind, one.place, one.is_known) == (two.kind, two.place, two.is_known)
            and one.is_known
            and len(one.positional) == len(two.positional)
            and all(same(a, b, depth + 1) for a, b in zip(one.positional, two.positional, strict=True))
            and _same_entries(one.arguments, two.arguments, depth)
        )
    return isinstance(one, bool | int | float | str | Text | Reference) and one == two


def _same_entries(one: dict, two: dict, depth: int) -> bool:  # type: ignore[type-arg]
    return list(one) == list(two) and all(same(one[name], two[name], depth + 1) for name in one)
