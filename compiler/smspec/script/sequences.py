"""Lists, tuples, and sets that a script creates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.values import UNKNOWN, Value, constant

if TYPE_CHECKING:
    from smspec.script.call import Call

HEAVIEST = 10_000
"""The maximum number of values in a tracked list: lists nested in each other repeatedly grow without limit."""

LONGEST_SUM = 1_000
"""The maximum number of values in a concatenated list: one that is added to itself repeatedly grows without limit."""

_LOOKS = ("copy", "count", "index")
"""Methods that do not change a list."""


class Items(Value):
    """A list, tuple, or set display. ``weight`` counts everything in it, repetitions included.

    ``is_fixed``: a tuple; other code that has a list may change it.
    """

    def __init__(self, values: tuple[Value, ...], *, is_fixed: bool = True) -> None:
        self.weight: int = 1 + sum(value.weight if isinstance(value, Items) else 1 for value in values)
        self._values = values
        self._is_fixed = is_fixed
        self._has_escaped = False
        self._is_looked_through = False
        self._constant: object = None

    @property
    def is_fixed(self) -> bool:
        return self._is_fixed

    @property
    def values(self) -> tuple[Value, ...] | None:
        """Return its values; None if they may have been changed."""
        return self._values if self._is_fixed or not self._has_escaped else None

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            self.look_through()

    def look_through(self) -> None:
        if not self._is_looked_through:
            self._is_looked_through = True
            for value in self._values:
                value.escape()

    def method(self, name: str, call: Call) -> Value:
        if name not in _LOOKS:
            self.escape()
        return call.unknown_result()

    def constant(self) -> object:
        """Return a tuple of constants, or `...`. It is computed once: a script may use a long one repeatedly."""
        if self.values is None:
            return ...
        if self._constant is None:
            items = tuple(constant(item) for item in self.values) if self.weight <= HEAVIEST else (...,)
            self._constant = ... if ... in items else items
        return self._constant


class GivenWords(Value):
    """``sys.argv[1:]``, as a separate list. ``is_whole``: nothing has changed it."""

    def __init__(self) -> None:
        self.is_whole = True

    def escape(self) -> None:
        self.is_whole = False

    def look_through(self) -> None:
        """Let the strings in it escape; that changes nothing."""

    def method(self, name: str, call: Call) -> Value:
        if name not in _LOOKS:
            self.escape()
        return call.unknown_result()


def items(value: Value | None) -> tuple[Value, ...] | None:
    """Return the values in a list, tuple, or set; None if unknown."""
    return value.values if isinstance(value, Items) else None


def known_items(one: tuple[Value, ...], two: tuple[Value, ...]) -> Value:
    """Return a concatenated list; unknown if it is too long."""
    if len(one) + len(two) <= LONGEST_SUM:
        return Items((*one, *two), is_fixed=False)
    for value in (*one, *two):
        value.escape()
    return UNKNOWN
