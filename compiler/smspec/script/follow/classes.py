"""Classes of the script, and their instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from smspec.script.follow.code import may_suppress
from smspec.script.follow.frames import Function, Generated, OfClass
from smspec.script.follow.values import UNKNOWN, Bound, Named, Value

if TYPE_CHECKING:
    import ast

    from smspec.script.follow.frames import Call, Frame
    from smspec.script.follow.interpreter import ProgramInterpreter


_CHANGING = frozenset({"__getattribute__", "__init_subclass__", "__new__"})
"""Methods that may change which others an instance has."""


class Class(Value):
    """A class of the script; ``decorators`` and ``bases`` as far as they are known."""

    def __init__(
        self,
        run: ProgramInterpreter,
        node: ast.ClassDef,
        frame: Frame,
        decorators: tuple[Value, ...],
        bases: tuple[Value, ...],
    ) -> None:
        self.node = node
        self.frame = frame
        self.decorators = decorators
        self.bases = bases
        self.run = run
        self.has_escaped = False
        self._has_changed = False

    def escape(self) -> None:
        if not self.has_escaped:
            self.has_escaped = True
            for value in (*self.bases, *self.frame.names.values()):
                value.escape()
            self.run.domain.reached(self.run, self.node, self.frame)

    def attribute(self, name: str) -> Value:
        """Return a class attribute; unknown if an unknown base class may have it."""
        found = self.frame.names.get(name)
        if self.of_class(name) is not None:
            return Bound(self, name)
        if found is None:
            self.escape()
            return UNKNOWN
        return found if isinstance(found, Function) or not self.has_escaped else UNKNOWN

    def method(self, name: str, call: Call) -> Value:
        found = self.of_class(name)
        if found is not None:
            return found.called_of(self, call)
        self.escape()  # a decorator may do anything with its class
        return call.unknown_result()

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self.frame.names[name] = UNKNOWN
        self._has_changed |= not name

    def is_failure(self, fails: Callable[[ast.expr], bool]) -> bool:
        return bool(self.bases) and all(
            base.is_failure(fails) and (isinstance(base, Class) or fails(node))
            for base, node in zip(self.bases, self.node.bases, strict=False)
        )

    @property
    def is_plain(self) -> bool:
        """Whether nothing of the class is called before it has an instance."""
        if "__init_subclass__" in self.frame.names or "__class_getitem__" in self.frame.names:
            return False
        return all(base.is_plain if isinstance(base, Class) else _is_bare(base) for base in self.bases)

    def wake(self) -> None:
        """Record that there may be an instance: calls of methods such as `__eq__` are not written in the script."""
        for name, value in tuple(self.frame.names.items()):
            if name.startswith("__") and name != "__init__":
                value.escape()
        for base in self.bases:
            if isinstance(base, Class):
                base.wake()

    @property
    def is_magic(self) -> bool:
        """Whether its instances have special methods: for comparison, arithmetic, contexts."""
        names = {name for name in self.frame.names if name.startswith("__")} - {"__init__"}
        return bool(names) or any(isinstance(base, Class) and base.is_magic for base in self.bases)

    def function(self, name: str) -> Function | None:
        """Return a method as Python would find it; None if an unknown class may define it."""
        if name in self.frame.names:
            found = self.frame.names[name]
            return found if isinstance(found, Function) else None
        first = self.bases[0] if len(self.bases) == 1 else None
        return first.function(name) if isinstance(first, Class) else None

    def of_class(self, name: str) -> OfClass | None:
        """Return a static or class method; None if it is none, or an unknown class may define it."""
        found = self.frame.names.get(name)
        if found is None and len(self.bases) == 1 and isinstance(self.bases[0], Class):
            return self.bases[0].of_class(name)
        return found if isinstance(found, OfClass) else None

    def that_defines(self, function: Function) -> Class | None:
        """Return the class, or its base class, that defines a method."""
        found = self.frame.names.get(function.node.name)
        if (found.function if isinstance(found, OfClass) else found) is function:
            return self
        first = self.bases[0] if len(self.bases) == 1 else None
        return first.that_defines(function) if isinstance(first, Class) else None

    @property
    def extends_others(self) -> bool:
        """Whether it has the methods of a class of another module."""
        return any(base.extends_others if isinstance(base, Class) else not _is_inert(base) for base in self.bases)

    @property
    def is_odd(self) -> bool:
        """Whether a call may make something other than an instance that has the attributes of the class."""
        names = self.frame.names.keys()
        is_own = bool(self.node.keywords) or not names.isdisjoint(_CHANGING) or self._has_descriptor
        return is_own or self._has_changed or any(isinstance(base, Class) and base.is_odd for base in self.bases)

    @property
    def _has_descriptor(self) -> bool:
        """Whether an object in it learns its class when that is defined, and may change it."""
        return any(isinstance(one, Instance) and one.kind.function("__set_name__") for one in self.frame.names.values())

    def call(self, call: Call) -> Value:
        self.wake()
        instance = Instance(self)
        if self.is_odd:
            instance.change()
        if not all(isinstance(base, Class) or _is_inert(base) for base in self.bases):
            self.escape()  # others may call its methods
        start = self.function("__init__")
        if start is None and not self.decorators and not self.extends_others:
            for value in (*call.arguments, *call.keywords.values()):
                value.escape()
        elif start is None or self.decorators:
            call.unknown_result()
        else:
            call.run.entered(start, call, (instance,))
        return instance


class Instance(Value):
    """An instance of a class of the script, with the attributes that are set once, in every run."""

    def __init__(self, kind: Class) -> None:
        self.kind = kind
        self._attributes: dict[str, Value] = {}
        self._has_escaped = False
        self._has_changed = False

    def change(self) -> None:
        """Record that its methods may not be those of its class."""
        self._has_changed = True
        self.escape()

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            for value in self._attributes.values():
                value.escape()
            self.kind.escape()

    def attribute(self, name: str) -> Value:
        if name == "__dict__":
            self.change()
        if self._has_escaped or name in self._attributes:
            return UNKNOWN if self._has_escaped else self._attributes[name]
        if self.kind.function(name) is not None or self.kind.of_class(name) is not None:
            return Bound(self, name)
        found = self.kind.frame.names.get(name, UNKNOWN)
        if found is UNKNOWN or name.startswith("__"):
            self.escape()
        return UNKNOWN if isinstance(found, Function) or self.kind.has_escaped else found

    def follows(self, name: str) -> bool:
        return not self._has_escaped and self.kind.function(name) is not None

    def method(self, name: str, call: Call) -> Value:
        function = None if self._has_changed else self.kind.function(name)
        if function is not None:
            for value in (*call.arguments, *call.keywords.values()) if self.kind.extends_others else ():
                call.hands_over_words(value)  # it may pass them on by `*`
            return call.run.entered(function, call, (self,))
        of_class = None if self._has_changed else self.kind.of_class(name)
        if of_class is not None:
            return of_class.called_of(self.kind, call)
        self.escape()  # a method of a base class, or one with decorators, may do anything with its instance
        return call.unknown_result()

    def set_attribute(self, name: str, value: Value) -> None:
        if name == "__class__":
            self.change()
        if self._has_escaped or name in self._attributes or self.kind.is_magic or not self.kind.run.is_certain:
            value.escape()
            self._attributes.get(name, UNKNOWN).escape()
            value = UNKNOWN
        self._attributes[name] = value


class Super(Value):
    """``super()`` in a method of ``kind``, which is None if unknown, or in a class method of it."""

    def __init__(self, instance: Instance | Class, kind: Class | None) -> None:
        self._instance = instance
        self._bases = kind.bases if kind is not None else (UNKNOWN,)

    def escape(self) -> None:
        self._instance.escape()

    def method(self, name: str, call: Call) -> Value:
        first = self._bases[0] if len(self._bases) == 1 else None
        function = first.function(name) if isinstance(first, Class) else None
        of_class = first.of_class(name) if isinstance(first, Class) else None
        if of_class is not None:
            kind = self._instance if isinstance(self._instance, Class) else self._instance.kind
            return of_class.called_of(kind, call)
        if function is not None and isinstance(self._instance, Instance):
            return call.run.entered(function, call, (self._instance,))
        if not all(map(_is_inert, self._bases)):
            self.escape()  # an unknown class may call any method of its instances
        return call.unknown_result()


class Module(Value):
    """A module of the source."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def escape(self) -> None:
        self.frame.open()

    def escape_by(self, attributes: Iterable[str]) -> None:
        for name in attributes:
            self.attribute(name)
            self.frame.leak(name)

    def has(self, name: str) -> bool:
        """Return whether it already has a name."""
        return name in self.frame.names

    def attribute(self, name: str) -> Value:
        if name == "__dict__":
            self.escape()
            return UNKNOWN
        if self.has(name):
            return self.frame.get(name) or UNKNOWN
        hook = self.frame.names.get("__getattr__")
        if hook is not None:
            hook.escape()
        self.frame.leak(name)  # other code has the later values of a module that is still running
        return UNKNOWN

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self.frame.forget_for_good(name)


def _is_bare(base: Value) -> bool:
    """Return whether a base class of another module does nothing when a subclass is defined."""
    return isinstance(base, Named) and base.name.startswith(("object", "abc.", "typing."))


def _is_inert(base: Value) -> bool:
    """Return whether a base class of another module never calls methods by itself."""
    return isinstance(base, Named) and base.name.startswith(("object", "abc.", "enum.", "typing."))


def never_suppresses(value: Value) -> bool:
    """Return whether a context manager of the script certainly suppresses no exception."""
    if isinstance(value, Generated):
        return not may_suppress(value.function.node)
    function = value.kind.function("__exit__") if isinstance(value, Instance) and value.follows("__exit__") else None
    return function is not None and not may_suppress(function.node)
