"""The values of expressions, without running anything: a constant, a list, something by its name, or unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Union

from smspec.script.follow.facts import REPLACEABLE, TRANSPARENT, fields, of_string, returns_text

if TYPE_CHECKING:
    import ast

    from smspec.script.follow.frames import Call
    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.source import Span

Constant = Union[str, int, float, bool, None]
Operation = Union["ast.BinOp", "ast.AugAssign"]

LONGEST = 4_000
"""The maximum length of a concatenated string: no path or command line word is longer."""

HEAVIEST = 10_000
"""The maximum number of values in a tracked list: lists nested in each other repeatedly grow without limit."""

LONGEST_SUM = 1_000
"""The maximum number of values in a concatenated list: one that is added to itself repeatedly grows without limit."""

_LOOKS = ("copy", "count", "index")
"""Methods that do not change a list."""


class Value:
    """Any value; the class itself is an unknown one. Readers derive theirs from it.

    ``is_fixed``: a tuple, not a list. ``loses_items``: without a deleted item, the others are still known.
    """

    is_fixed = False
    loses_items = False
    may_be_none = True

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

    def before(self, _rest: str | None) -> Value:
        """Return an f-string that begins with this; ``rest`` is the text after it, None if it is not known."""
        return UNKNOWN

    def operation(self, _node: Operation, _right: Value, _run: ProgramInterpreter) -> Value | None:
        """Return the result of an operation with this on the left side; None if it is that of any other value."""
        return None

    def grown(self, _node: ast.AugAssign, right: Value) -> Value | None:
        """Return what this becomes by ``+=`` and the like, if it is changed in place; None if it is replaced."""
        right.escape()
        return None

    def items(self) -> tuple[Value, ...] | None:
        """Return the values in a list, tuple, or set; None if unknown."""
        return None

    def entered(self) -> Value:
        """Return what `with` assigns if this is the context manager."""
        return UNKNOWN

    def spread(self) -> tuple[Value, ...] | None:
        """Return the arguments that `*` makes of this; None if unknown."""
        return None

    def entries(self) -> dict[str, Value] | None:
        """Return the arguments that `**` makes of this; None if unknown."""
        return None

    def truth(self) -> bool | None:
        """Return whether this is true; None if unknown."""
        found = self.constant()
        return None if found is ... else bool(found)

    def follows(self, _: str) -> bool:
        """Return whether a method is a function of the script, which is followed wherever it is called."""
        return False

    def set_attribute(self, _: str, value: Value) -> None:
        """Record that an attribute is set."""
        value.escape()
        self.escape()

    def set_item(self, _key: Value, value: Value) -> None:
        """Record that an item is set."""
        value.escape()
        self.escape()

    def delete_item(self, _key: Value) -> None:
        """Delete an item, if this ``loses_items``."""

    def decorate(self, value: Value, call: Call) -> Value:
        """Return what a function, or the result of the decorators below, becomes when this decorates it."""
        value.escape()
        return self.call(call)

    def decorated(self, _name: str) -> Value | None:
        """Return what this becomes when something of another module, or a builtin, decorates it; None if unknown."""
        return None

    def take(self) -> None:
        """Record that the first of its items is taken, if it makes them one by one."""

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

    def item(self, key: Value, place: Span) -> Value:
        """Return a character."""
        owner, index = self.constant(), key.constant()
        if isinstance(owner, str) and isinstance(index, int) and -len(owner) <= index < len(owner):
            return Known(owner[index])
        return super().item(key, place)

    def method(self, name: str, call: Call) -> Value:
        """Return what a method makes of a string; it changes no argument: ``", ".join(names)``."""
        for value in (*call.arguments, *call.keywords.values()):
            value.look_through()
        owner = self.constant()
        if not isinstance(owner, str) or not call.is_whole:
            return UNKNOWN
        domain = call.run.domain
        if name == "format":
            return domain.text(fields(owner, call.arguments, call.keywords))
        first = items(call.arguments[0]) if call.arguments else None
        if name == "join" and first is not None:
            return domain.text([part for value in first for part in (owner, value)][1:])
        constants = [constant(value) for value in call.arguments]
        if name in ("split", "rsplit") and not call.keywords and len(constants) <= 1 and all(constants):
            by = constants[0] if constants else None
            return domain.items([Known(p) for p in owner.split(by)]) if isinstance(by, str | None) else UNKNOWN
        found = None if call.keywords else of_string(owner, name, constants)
        if found is None:
            return domain.text(None) if returns_text(name) else UNKNOWN
        return known_text(found) if isinstance(found, str) else Known(found)


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


class Named(Value):
    """Something of another module, or a builtin, by its full name: ``os.environ``."""

    def __init__(self, name: str, run: ProgramInterpreter | None = None) -> None:
        self.name = name
        self._run = run

    def escape(self) -> None:
        if self._run is not None:
            self._run.handed_on(self.name)

    def escape_by(self, _: Iterable[str]) -> None:
        """Another module is safe where its attributes are written out; `leak` checks those."""

    def is_failure(self, _: Callable[[ast.expr], bool]) -> bool:
        return self.name not in ("SystemExit", "BaseException")

    def look_through(self) -> None:
        """Let the strings in it escape; that changes nothing."""

    def attribute(self, name: str) -> Value:
        return Named(f"{self.name}.{name}", self._run)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        if f"{self.name}.{name}" not in REPLACEABLE:
            self.escape()

    def call(self, call: Call) -> Value:
        return call.run.called(self.name, call)

    def decorate(self, value: Value, call: Call) -> Value:
        if self.name in TRANSPARENT:
            return call.run.domain.decorated(value, self.name)
        known = value.decorated(self.name)
        if known is not None:
            return known
        value.escape()
        return call.run.called(self.name, call)


class _Display(Value):
    """A display of values; `+=` changes it for all code that has it."""

    may_be_none = False

    def grown(self, _node: ast.AugAssign, right: Value) -> Value:
        self.escape()
        right.escape()
        return UNKNOWN


class Items(_Display):
    """A list, tuple, or set display, which other code may change. ``weight`` counts all in it, with repetitions."""

    def __init__(self, values: tuple[Value, ...], *, is_fixed: bool = True) -> None:
        self.weight: int = 1 + sum(value.weight if isinstance(value, Items) else 1 for value in values)
        self._values = values
        self.is_fixed = is_fixed
        self._has_escaped = False
        self._is_looked_through = False
        self._constant: object = None

    def items(self) -> tuple[Value, ...] | None:
        return self._values if self.is_fixed or not self._has_escaped else None

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            self.look_through()

    def item(self, key: Value, place: Span) -> Value:
        index, values = key.constant(), self.items() or ()
        is_there = isinstance(index, int) and -len(values) <= index < len(values)
        return values[index] if is_there and isinstance(index, int) else super().item(key, place)

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
        values = self.items()
        if values is None:
            return ...
        if self._constant is None:
            items = tuple(map(constant, values)) if self.weight <= HEAVIEST else (...,)
            self._constant = ... if ... in items else items
        return self._constant


class Keys(_Display):
    """A mapping display with constant keys, and values that other code has. Other code that has it may change it."""

    def __init__(self, keys: tuple[Value, ...]) -> None:
        self._keys = keys
        self._has_escaped = False

    def items(self) -> tuple[Value, ...] | None:
        return None if self._has_escaped else self._keys

    def escape(self) -> None:
        self._has_escaped = True

    def look_through(self) -> None:
        """Let the strings in it escape; that changes nothing."""

    def item(self, _key: Value, _place: Span) -> Value:
        return UNKNOWN

    def method(self, name: str, call: Call) -> Value:
        if name not in ("get", "items", "keys", "values"):
            self.escape()
        return self if name == "keys" else call.unknown_result()  # its keys change with it


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
    return None if value is None else value.items()
