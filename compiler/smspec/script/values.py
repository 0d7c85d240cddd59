"""What is known of a value without running anything: a constant, a name, a function, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from smspec.script.leaking import leak

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.script.frame import Frame
    from smspec.script.interpreter import Interpreter
    from smspec.source import Span

Constant = Union[str, int, float, bool, None]


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
        """Tell whether a method is a function of the program, which is followed wherever it is called."""
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

    def escape(self) -> None:
        """Take note that others may change this from now on."""

    def look_through(self) -> None:
        """Take note that others have what is in this, but not this itself."""
        self.escape()


HEAVIEST = 10_000
"""Values in a list that is still looked at: one that holds another twice, and so on, soon has no end."""

LONGEST_SUM = 1_000
"""Values in a list that is put together of two: one that is added to itself again and again has no end."""

LONGEST = 4_000
"""Characters of a text that is put together: no path and no word of a command line has more."""


class Unknown(Value):
    """What nothing is known of, nor of anything in it."""

    def attribute(self, _: str) -> Value:
        return self


UNKNOWN: Value = Unknown()
ELLIPSIS: Value = Unknown()
"""``...``, by which some libraries mean that there is no default."""

_HARMLESS = ("torch.distributed.elastic.multiprocessing.errors.record", "click.pass_context")
"""Decorators under which a function still runs as it is written."""

_LOOKS = ("copy", "count", "index")
"""Methods that leave a list as it is."""


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

    def method(self, _: str, call: Call) -> Value:
        """Return nothing that is known: ``", ".join(names)`` changes no names."""
        for value in (*call.arguments, *call.keywords.values()):
            value.look_through()
        return UNKNOWN


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


class Named(Value):
    """Something of another module, or of Python itself, by its full name: ``os.environ``."""

    def __init__(self, name: str, run: Interpreter | None = None) -> None:
        self.name = name
        self._run = run

    def escape(self) -> None:
        if self._run is not None:
            self._run.handed_on(self.name)

    def look_through(self) -> None:
        """Let others have the texts that are in it; they change nothing."""

    def attribute(self, name: str) -> Value:
        return Named(f"{self.name}.{name}", self._run)

    def call(self, call: Call) -> Value:
        return call.run.called(self.name, call)

    def decorate(self, value: Value, call: Call) -> Value:
        if self.name in _HARMLESS:
            return value
        value.escape()
        return call.run.called(self.name, call)


class Function(Value):
    """A function of the program. ``frame`` is where it looks for names, ``defaults`` are known by parameter."""

    def __init__(self, run: Interpreter, node: ast.FunctionDef, frame: Frame, defaults: dict[str, Value]) -> None:
        self.node = node
        self.frame = frame
        self.defaults = defaults
        self._run = run
        self._has_escaped = False

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            for value in self.defaults.values():
                value.escape()
            leak(self._run, self.node, self.frame)

    def attribute(self, name: str) -> Value:
        if name.startswith("__"):
            self._run.handed_on("globals")
        return super().attribute(name)

    def decorate(self, _: Value, call: Call) -> Value:
        return self.call(call)

    def call(self, call: Call) -> Value:
        return call.run.entered(self, call, ())


class Class(Value):
    """A class of the program; ``decorators`` and ``bases`` as far as they are known."""

    def __init__(
        self,
        run: Interpreter,
        node: ast.ClassDef,
        frame: Frame,
        decorators: tuple[Value, ...],
        bases: tuple[Value, ...],
    ) -> None:
        self.node = node
        self.frame = frame
        self.decorators = decorators
        self.bases = bases
        self._run = run
        self._has_escaped = False

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            for value in (*self.bases, *self.frame.names.values()):
                value.escape()
            leak(self._run, self.node, self.frame)

    def attribute(self, name: str) -> Value:
        """Return what the class has under a name; nothing is known of what a class around it may have."""
        if name in self.frame.names:
            return self.frame.names[name]
        self.escape()
        return UNKNOWN

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self.frame.names[name] = UNKNOWN

    @property
    def is_magic(self) -> bool:
        """Whether its objects do more than is written where they are used: compare, add, come and go."""
        names = {name for name in self.frame.names if name.startswith("__")} - {"__init__"}
        return bool(names) or any(isinstance(base, Class) and base.is_magic for base in self.bases)

    def function(self, name: str) -> Function | None:
        """Return a method as Python would find it; None where one could be in a class that is not known."""
        if name in self.frame.names:
            found = self.frame.names[name]
            return found if isinstance(found, Function) else None
        first = self.bases[0] if len(self.bases) == 1 else None
        return first.function(name) if isinstance(first, Class) else None

    def call(self, call: Call) -> Value:
        instance = Instance(self)
        if not all(isinstance(base, Class) or _is_inert(base) for base in self.bases):
            self.escape()  # others may call its methods
        start = self.function("__init__")
        if start is None or self.decorators:
            call.lost()
        else:
            call.run.entered(start, call, (instance,))
        return instance


class Instance(Value):
    """An object of a class of the program, with the attributes that are set once, where every run sets them."""

    def __init__(self, kind: Class) -> None:
        self.kind = kind
        self._attributes: dict[str, Value] = {}
        self._has_escaped = False

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            for value in self._attributes.values():
                value.escape()
            self.kind.escape()

    def attribute(self, name: str) -> Value:
        if self._has_escaped or name in self._attributes:
            return UNKNOWN if self._has_escaped else self._attributes[name]
        if self.kind.function(name) is not None:
            return Bound(self, name)
        found = self.kind.frame.names.get(name, UNKNOWN)
        if found is UNKNOWN or name.startswith("__"):
            self.escape()
        return UNKNOWN if isinstance(found, Function) else found

    def follows(self, name: str) -> bool:
        return not self._has_escaped and self.kind.function(name) is not None

    def method(self, name: str, call: Call) -> Value:
        function = self.kind.function(name)
        if function is not None:
            return call.run.entered(function, call, (self,))
        self.escape()  # a method of a base class, or one under decorators, may do anything with its object
        return call.lost()

    def set_attribute(self, name: str, value: Value) -> None:
        if self._has_escaped or name in self._attributes or self.kind.is_magic:
            value.escape()
            self._attributes.get(name, UNKNOWN).escape()
            value = UNKNOWN
        self._attributes[name] = value


class Module(Value):
    """A module beside the program that was read too."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def escape(self) -> None:
        for name in tuple(self.frame.names):
            self.frame.leak(name)
            self.frame.forget_for_good(name)

    def attribute(self, name: str) -> Value:
        if name.startswith("__"):
            self.escape()
        return self.frame.get(name) or UNKNOWN

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self.frame.forget_for_good(name)


def _is_inert(base: Value) -> bool:
    """Tell whether a base class of another module calls no method of its own accord."""
    return isinstance(base, Named) and base.name.startswith(("object", "abc.", "enum.", "typing."))


def constant(value: Value | None) -> object:
    """Return a constant, or a tuple of constants; `...` for what is none, which no constant of interest is."""
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Items):
        return value.constant()
    return ...


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


def known_text(text: str) -> Value:
    """Return a text that was put together; nothing is known of one that only grows."""
    return Known(text) if len(text) <= LONGEST else UNKNOWN


def text(value: Value | None) -> str | None:
    """Return a text that is known, else None."""
    found = constant(value)
    return found if isinstance(found, str) else None
