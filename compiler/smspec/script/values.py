"""The values of expressions, without running anything: a constant, an attribute of another value, or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.source import Span

Constant = Union[str, int, float, bool, None]

LONGEST = 4_000
"""The maximum length of a concatenated string: no path or command line word is longer."""


class Value:
    """Any value; the class itself is an unknown one. Readers derive theirs from it."""

    def call(self, call: Call) -> Value:
        """Return the result of a call. An unknown function may do anything with its arguments."""
        return call.unknown_result()

    def method(self, _: str, call: Call) -> Value:
        """Return the result of a method call."""
        return call.unknown_result()

    def item(self, _key: Value, _place: Span) -> Value:
        """Return the value under a key; ``place`` is where it is read."""
        self.escape()
        return UNKNOWN

    def attribute(self, name: str) -> Value:
        """Return an attribute. Code that has one, such as a method, has this value too."""
        return Bound(self, name)

    def follows(self, _: str) -> bool:
        """Return whether a method is a function of the script, which is followed wherever it is called."""
        return False

    def set_attribute(self, _: str, value: Value) -> None:
        """Record that an attribute is set."""
        value.escape()
        self.escape()

    def set_item(self) -> None:
        """Record that an item is set."""
        self.escape()

    def decorate(self, value: Value, call: Call) -> Value:
        """Return what a function, or the result of the decorators below, becomes when this decorates it."""
        value.escape()
        return self.call(call)

    def constant(self) -> object:
        """Return a constant, or a tuple of constants; `...` for anything else: no relevant constant is `...`."""
        return ...

    def text(self) -> str | None:
        """Return a string, or that of a path; None for everything else."""
        return None

    def escape(self) -> None:
        """Record that other code may change this from now on."""

    def escape_by(self, _: Iterable[str]) -> None:
        """Record that other code has these attributes of this, and of a module nothing else."""
        self.escape()

    def is_failure(self, _: Callable[[ast.expr], bool]) -> bool:
        """Return whether an exception class with the name of a failure is one; check its base classes."""
        return True

    def look_through(self) -> None:
        """Record that other code has the values in this, but not this itself."""
        self.escape()


class Unknown(Value):
    """A value about which nothing is known, including its parts."""

    def attribute(self, _: str) -> Value:
        return self


UNKNOWN: Value = Unknown()
ELLIPSIS: Value = Unknown()
"""``...``, which some libraries use for a missing default."""


class Bound(Value):
    """An attribute of a value, usually a method: ``add = parser.add_argument``."""

    def __init__(self, owner: Value, name: str) -> None:
        self.owner = owner
        self.name = name

    def escape(self) -> None:
        self.owner.escape()

    def call(self, call: Call) -> Value:
        return self.owner.method(self.name, call)

    def method(self, _: str, call: Call) -> Value:
        self.escape()
        return call.unknown_result()

    def attribute(self, _: str) -> Value:
        self.escape()
        return UNKNOWN

    def item(self, _key: Value, _place: Span) -> Value:
        self.escape()
        return UNKNOWN


class Known(Value):
    """A constant."""

    def __init__(self, value: Constant) -> None:
        self.value = value

    def constant(self) -> object:
        return self.value

    def text(self) -> str | None:
        return self.value if isinstance(self.value, str) else None

    def method(self, _: str, call: Call) -> Value:
        """Return an unknown value: ``", ".join(names)`` does not change names."""
        for value in (*call.arguments, *call.keywords.values()):
            value.look_through()
        return UNKNOWN


class KnownPath(Known):
    """A path of `pathlib`: it has a string, but is not equal to one."""

    def constant(self) -> object:
        return ...


def constant(value: Value | None) -> object:
    """Return a constant, or a tuple of constants; `...` for anything else, or for no value."""
    return ... if value is None else value.constant()


def known_text(text: str) -> Value:
    """Return a concatenated string; unknown if it is too long."""
    return Known(text) if len(text) <= LONGEST else UNKNOWN


def known_path(path: str) -> Value:
    """Return a path as `pathlib` normalizes it; unknown if it is too long."""
    if len(path) > LONGEST:
        return UNKNOWN
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return KnownPath(("/" if path.startswith("/") else "") + "/".join(parts) or ".")


def text(value: Value | None) -> str | None:
    """Return the known string of a value, or that of a path, else None."""
    return None if value is None else value.text()
