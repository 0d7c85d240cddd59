"""The names that are known at one place of a script."""

from __future__ import annotations

from smspec.script.external_names import Named
from smspec.script.values import UNKNOWN, Value
from smspec.source import SourceText


class Frame:
    """The names of a module or of a function call; ``outer`` is the enclosing frame.

    ``has_left``: the function may have returned. ``is_open``: other code has all its names, and may set them. For a
    module, ``package`` is where relative imports start; ``is_entered``: calls of its functions are followed.
    """

    def __init__(self, source: SourceText, outer: Frame | None = None) -> None:
        self.source = source
        self.outer = outer
        self.lines: list[str] = outer.lines if outer else source.text.split("\n")
        self.has_left = False
        self.is_class = False
        self.is_comprehension = False
        self.is_open = False
        self.is_entered = True
        self.package = ""
        self._leaked: set[str] = set()
        self._forgotten: set[str] = set()
        self.names: dict[str, Value] = {}
        self.globals: frozenset[str] = frozenset()
        self.nonlocals: frozenset[str] = frozenset()
        self.returned: list[Value] = []

    @property
    def module(self) -> Frame:
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame

    def get(self, name: str) -> Value | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame._forgotten:
                return UNKNOWN
            if name in frame.names:
                value = frame.names[name]
                return value if isinstance(value, Named) or not frame.is_open else UNKNOWN
            frame = frame.outer
        return None

    def open(self) -> None:
        """Let all names escape, with any later values, and allow others to set them: all except other modules."""
        if not self.is_open:
            self.is_open = True
            for value in tuple(self.names.values()):
                if not isinstance(value, Named):
                    value.escape()

    def leak(self, name: str, attributes: frozenset[str] | None = None) -> None:
        """Let the value of a name escape, and any later value; for a module, only ``attributes``."""
        frame: Frame | None = self
        while frame is not None:
            frame._leaked.add(name)
            if name in frame.names:
                if attributes is None:
                    frame.names[name].escape()
                else:
                    frame.names[name].escape_by(attributes)
                return
            frame = frame.outer

    def forget_for_good(self, name: str) -> None:
        """Treat a name as permanently unknown, because others may set it at any time."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names or frame.outer is None:
                frame._forgotten.add(name)
            frame = frame.outer

    @property
    def of_functions(self) -> Frame:
        """The frame in which a function defined here looks up names: not that of a class."""
        return self.outer.of_functions if self.is_class and self.outer is not None else self

    def forget_outer(self, name: str) -> None:
        """Treat a name of an enclosing function as unknown, because of ``nonlocal``."""
        frame = self.outer
        while frame is not None:
            if name in frame.names:
                frame.names[name].escape()
                frame.names[name] = UNKNOWN
            frame = frame.outer
        self.nonlocals |= {name}

    def forget_values(self) -> None:
        """Treat all names of this frame as unknown, except other modules and builtins."""
        for name, value in self.names.items():
            if not isinstance(value, Named) and not name.startswith("__"):
                self.names[name] = UNKNOWN

    def set(self, name: str, value: Value) -> None:
        frame = self.module if name in self.globals else self
        if name in frame._leaked or name in frame.nonlocals or (frame.is_open and not isinstance(value, Named)):
            value.escape()
        frame.names[name] = value


def joined(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    """Return what is known of names after either of two branches.

    A value that a name may have escapes, because later uses under that name are not tracked.
    """
    names: dict[str, Value] = {}
    for name in (*one, *sorted(two.keys() - one.keys())):
        first, second = one.get(name, UNKNOWN), two.get(name, UNKNOWN)
        names[name] = first if first is second else UNKNOWN
        if first is not second:
            first.escape()
            second.escape()
    return names
