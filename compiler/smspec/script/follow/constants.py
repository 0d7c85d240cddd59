"""What Python computes from constants: arithmetic, comparisons, and strings, within limits.

`...` stands for an unknown constant. A string that is made of values has parts: text, and the values in order.
"""

from __future__ import annotations

import ast
import operator
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from smspec.script.follow.values import Value

LARGEST = 1 << 62
"""The limit of a whole number. No script counts to it, and Python refuses to write numbers of some thousand digits."""

Part = Union[str, "Value"]

_LONGEST = 20_000
_MOST_ARGUMENTS = 3
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OF_STRINGS: dict[str, Callable[..., str | bool]] = {
    name: getattr(str, name)
    for name in (
        *("lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "capitalize"),
        *("startswith", "endswith"),
    )
}


def returns_text(method: str) -> bool:
    """Return whether a method of a string is known, and returns a string."""
    return method in _OF_STRINGS and not method.endswith("swith")


def computed(kind: type[ast.operator], left: object, right: object) -> float | None:
    """Return the result of an operation of two numbers; None if it is not known."""
    if not _is_number(left) or not _is_number(right):
        return None
    assert isinstance(left, int | float) and isinstance(right, int | float)
    if kind is ast.Pow and isinstance(right, int) and 0 <= right <= 64 and abs(left) <= 1024:
        found: float = left**right
    elif kind in _ARITHMETIC:
        try:
            found = _ARITHMETIC[kind](left, right)
        except (ArithmeticError, ValueError):
            return None
    else:
        return None
    return found if isinstance(found, float) or abs(found) < LARGEST else None


def compared(kind: type[ast.cmpop], one: object, two: object) -> bool | None:
    """Return the result of a comparison of two constants; None if it is not known.

    A tuple may stand for a list or a set of the same values.
    """
    if one is ... or two is ... or isinstance(one, tuple):
        return None
    if kind in (ast.In, ast.NotIn):
        is_text = isinstance(one, str) and isinstance(two, str)
        if not is_text and not isinstance(two, tuple):
            return None
        return (one in two) is (kind is ast.In)  # type: ignore[operator]  # both are text, or the second is a tuple
    if isinstance(two, tuple):
        return None
    if kind in (ast.Eq, ast.NotEq):
        return (one == two) is (kind is ast.Eq)
    if kind in (ast.Is, ast.IsNot):
        if type(one) is type(two) and not (one is None or isinstance(one, bool)):
            return None
        return (one is two) is (kind is ast.Is)
    if isinstance(one, int | float) and isinstance(two, int | float) and kind in _ORDER:
        return _ORDER[kind](one, two)
    return None


def of_string(owner: str, method: str, arguments: Sequence[object]) -> str | bool | None:
    """Return the result of a method of a string with constant arguments; None if it is not known."""
    if method not in _OF_STRINGS or len(arguments) > _MOST_ARGUMENTS:
        return None
    if not all(part is None or isinstance(part, str | int) for part in arguments):
        return None
    if len(owner) * sum(len(part) for part in arguments if isinstance(part, str)) > _LONGEST * 10:
        return None
    try:
        found = _OF_STRINGS[method](owner, *arguments)
    except TypeError:
        return None
    return found if not isinstance(found, str) or len(found) <= _LONGEST else None


def written(constant: object, wanted: str) -> str | None:
    """Return what `format` makes of a constant; None if it is not known, or may be long."""
    if isinstance(constant, tuple) or constant is ... or len(wanted) > 8 or sum(map(str.isdigit, wanted)) > 3:
        return None
    try:
        return format(constant, wanted)
    except (ValueError, TypeError):
        return None


def percent(pattern: str, given: Sequence[Value] | None) -> list[Part] | None:
    """Return the parts of ``pattern % given`` with plain ``%s`` and ``%d``; None if they are not known."""
    pieces = pattern.replace("%%", "\0").replace("%d", "%s\1").split("%s")
    if given is None or "\0" in pattern or "\1" in pattern or len(pieces) != len(given) + 1:
        return None
    if any("%" in piece for piece in pieces):
        return None
    parts: list[Part] = [pieces[0].replace("\0", "%")]
    for value, piece in zip(given, pieces[1:], strict=True):
        if piece[:1] == "\1" and type(value.constant()) is not int:
            return None  # `%d` writes other numbers, and truths, in another way
        parts += [value, piece.removeprefix("\1").replace("\0", "%")]
    return parts


def fields(pattern: str, positional: Sequence[Value], named: Mapping[str, Value]) -> list[Part] | None:
    """Return the parts of ``pattern.format`` with plain fields: ``{}``, ``{0}``, ``{name}``; None for others."""
    parts: list[Part] = []
    automatic = 0
    try:
        for text, field, wanted, conversion in string.Formatter().parse(pattern):
            parts.append(text)
            if field is None:
                continue
            if wanted or conversion not in (None, "s"):
                return None
            if field == "":
                field, automatic = str(automatic), automatic + 1
            parts.append(positional[int(field)] if field.isdigit() else named[field])
    except (ValueError, KeyError, IndexError):
        return None
    return parts


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
