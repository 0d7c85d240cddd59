"""The names that are known at one place of a program."""

from __future__ import annotations

from smspec.script.names import Named
from smspec.script.values import UNKNOWN, Value
from smspec.source import SourceText


class Frame:
    """The names of a module or of a function that runs; ``outer`` is where it looks further.

    ``has_left``: it may have been left by now. ``is_open``: others have all its names, and may set them. Of a module,
    ``package`` is where relative imports begin; ``is_entered``: calls of its functions are followed.
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
        """Let others have all names, whatever they will stand for, and set them: all but those of other modules."""
        if not self.is_open:
            self.is_open = True
            for value in tuple(self.names.values()):
                if not isinstance(value, Named):
                    value.escape()

    def leak(self, name: str, attributes: frozenset[str] | None = None) -> None:
        """Let others have what a name stands for, and whatever it will stand for; of a module, only ``attributes``."""
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
        """Know nothing any more of a name that others may set at any time."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names or frame.outer is None:
                frame._forgotten.add(name)
            frame = frame.outer

    @property
    def of_functions(self) -> Frame:
        """The frame in which a function that is defined here looks for names: none of a class."""
        return self.outer.of_functions if self.is_class and self.outer is not None else self

    def forget_outer(self, name: str) -> None:
        """Know nothing any more of a name of a function around this one: ``nonlocal`` lets this one set it."""
        frame = self.outer
        while frame is not None:
            if name in frame.names:
                frame.names[name].escape()
                frame.names[name] = UNKNOWN
            frame = frame.outer
        self.nonlocals |= {name}

    def forget_values(self) -> None:
        """Know nothing any more of the names of this frame, but of other modules and what Python itself gives it."""
        for name, value in self.names.items():
            if not isinstance(value, Named) and not name.startswith("__"):
                self.names[name] = UNKNOWN

    def set(self, name: str, value: Value) -> None:
        frame = self.module if name in self.globals else self
        if name in frame._leaked or name in frame.nonlocals or (frame.is_open and not isinstance(value, Named)):
            value.escape()
        frame.names[name] = value


def joined(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    """Return what is known of names when it is not known which of two ways was taken.

    What a name may stand for is used under that name without being seen from now on.
    """
    names: dict[str, Value] = {}
    for name in (*one, *sorted(two.keys() - one.keys())):
        first, second = one.get(name, UNKNOWN), two.get(name, UNKNOWN)
        names[name] = first if first is second else UNKNOWN
        if first is not second:
            first.escape()
            second.escape()
    return names
