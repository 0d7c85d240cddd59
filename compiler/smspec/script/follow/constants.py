"""What Python computes from constants: arithmetic, comparisons, and methods of strings, within limits.

Scripts and programs of the SageMaker SDK are followed with the same ones. `...` stands for an unknown constant.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence

LARGEST = 1 << 62
"""The limit of a whole number. No script counts to it, and Python refuses to write numbers of some thousand digits."""

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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
