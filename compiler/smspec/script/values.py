"""What is known of a value without running anything: a constant, an attribute of another value, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.source import Span

Constant = Union[str, int, float, bool, None]

LONGEST = 4_000
"""Characters of a text that is put together: no path and no word of a command line has more."""


class Value:
    """Anything; the plain class stands for what is not known. Readers derive theirs from it."""

    def call(self, call: Call) -> Value:
        """Return what a call of this gives. What nobody knows may do anything with what it gets."""
        return call.lost()

    def method(self, _: str, call: Call) -> Value:
        """Return what a call of a method gives."""
        return call.lost()

    def item(self, _key: Value, _place: Span) -> Value:
        """Return what stands under a key; ``place`` is where it is asked for."""
        self.escape()
        return UNKNOWN

    def attribute(self, name: str) -> Value:
        """Return an attribute. Whoever has one, such as a method, has this."""
        return Bound(self, name)

    def follows(self, _: str) -> bool:
        """Return whether a method is a function of the program, which is followed wherever it is called."""
        return False

    def set_attribute(self, _: str, value: Value) -> None:
        """Take note that an attribute is set."""
        value.escape()
        self.escape()

    def set_item(self) -> None:
        """Take note that something is put under a key."""
        self.escape()

    def decorate(self, value: Value, call: Call) -> Value:
        """Return what a function, or what decorators below made of it, becomes when this decorates it."""
        value.escape()
        return self.call(call)

    def constant(self) -> object:
        """Return a constant, or a tuple of constants; `...` for what is none, which no constant of interest is."""
        return ...

    def text(self) -> str | None:
        """Return a text, or that of a path; None for all else."""
        return None

    def escape(self) -> None:
        """Take note that others may change this from now on."""

    def escape_by(self, _: Iterable[str]) -> None:
        """Take note that others have these attributes of this, and of a module nothing else."""
        self.escape()

    def is_failure(self, _: Callable[[ast.expr], bool]) -> bool:
        """Return whether a kind of exception that is called a failure is one; asks that of its base classes."""
        return True

    def look_through(self) -> None:
        """Take note that others have what is in this, but not this itself."""
        self.escape()


class Unknown(Value):
    """What nothing is known of, nor of anything in it."""

    def attribute(self, _: str) -> Value:
        return self


UNKNOWN: Value = Unknown()
ELLIPSIS: Value = Unknown()
"""``...``, by which some libraries mean that there is no default."""


class Bound(Value):
    """An attribute of a value, mostly a method: ``add = parser.add_argument``."""

    def __init__(self, owner: Value, name: str) -> None:
        self.owner = owner
        self.name = name

    def escape(self) -> None:
        self.owner.escape()

    def call(self, call: Call) -> Value:
        return self.owner.method(self.name, call)

    def method(self, _: str, call: Call) -> Value:
        self.escape()
        return call.lost()

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
        """Return nothing that is known: ``", ".join(names)`` changes no names."""
        for value in (*call.arguments, *call.keywords.values()):
            value.look_through()
        return UNKNOWN


class KnownPath(Known):
    """A path of `pathlib`: it has a text, but is equal to none."""

    def constant(self) -> object:
        return ...


def constant(value: Value | None) -> object:
    """Return a constant, or a tuple of constants; `...` for what is none, or where there is no value."""
    return ... if value is None else value.constant()


def known_text(text: str) -> Value:
    """Return a text that was put together; nothing is known of one that only grows."""
    return Known(text) if len(text) <= LONGEST else UNKNOWN


def known_path(path: str) -> Value:
    """Return a path as `pathlib` has it; nothing is known of one that only grows."""
    if len(path) > LONGEST:
        return UNKNOWN
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return KnownPath(("/" if path.startswith("/") else "") + "/".join(parts) or ".")


def text(value: Value | None) -> str | None:
    """Return a text, or that of a path, that is known, else None."""
    return None if value is None else value.text()
