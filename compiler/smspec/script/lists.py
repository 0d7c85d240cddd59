"""Lists, tuples, and sets as a program writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.values import UNKNOWN, Value, constant

if TYPE_CHECKING:
    from smspec.script.call import Call

HEAVIEST = 10_000
"""Values in a list that is still looked at: one that holds another twice, and so on, soon has no end."""

LONGEST_SUM = 1_000
"""Values in a list that is put together of two: one that is added to itself again and again has no end."""

_LOOKS = ("copy", "count", "index")
"""Methods that leave a list as it is."""


class Items(Value):
    """A list, tuple or set as it is written. ``weight`` counts all that is in it, again wherever it is repeated.

    ``is_fixed``: a tuple; whoever has a list may change it.
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
        """Return what is in it; None for what may have been changed."""
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
        return call.lost()

    def constant(self) -> object:
        """Return a tuple of constants, or `...`. It is made once: a program may ask for a long one again and again."""
        if self.values is None:
            return ...
        if self._constant is None:
            items = tuple(constant(item) for item in self.values) if self.weight <= HEAVIEST else (...,)
            self._constant = ... if ... in items else items
        return self._constant


class GivenWords(Value):
    """``sys.argv[1:]``, in a list of its own. ``is_whole``: nothing has changed it."""

    def __init__(self) -> None:
        self.is_whole = True

    def escape(self) -> None:
        self.is_whole = False

    def look_through(self) -> None:
        """Let others have the texts that are in it; they change nothing."""

    def method(self, name: str, call: Call) -> Value:
        if name not in _LOOKS:
            self.escape()
        return call.lost()


def items(value: Value | None) -> tuple[Value, ...] | None:
    """Return what is in a list, tuple or set; None where that is not known."""
    return value.values if isinstance(value, Items) else None


def known_items(one: tuple[Value, ...], two: tuple[Value, ...]) -> Value:
    """Return a list that was put together; nothing is known of one that only grows."""
    if len(one) + len(two) <= LONGEST_SUM:
        return Items((*one, *two), is_fixed=False)
    for value in (*one, *two):
        value.escape()
    return UNKNOWN
