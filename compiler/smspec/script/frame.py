"""The names that are known at one place of a program."""

from __future__ import annotations

from smspec.script.values import UNKNOWN, Items, Known, Value
from smspec.source import SourceText


class Frame:
    """The names of a module or of a function that runs; ``outer`` is where it looks further.

    ``has_left``: it may have been left by now.
    """

    def __init__(self, source: SourceText, outer: Frame | None = None) -> None:
        self.source = source
        self.outer = outer
        self.lines: list[str] = outer.lines if outer else source.text.split("\n")
        self.has_left = False
        self.names: dict[str, Value] = {}
        self.globals: frozenset[str] = frozenset()
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
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        return None

    def forget_outer(self, name: str) -> None:
        """Know nothing any more of a name of a function around this one: ``nonlocal`` lets this one set it."""
        frame = self.outer
        while frame is not None:
            if name in frame.names:
                frame.names[name] = UNKNOWN
            frame = frame.outer

    def forget_constants(self) -> None:
        """Know nothing any more of the constants of this frame, but for what Python itself gives a module."""
        for name, value in self.names.items():
            if isinstance(value, Known | Items) and not name.startswith("__"):
                self.names[name] = UNKNOWN

    def set(self, name: str, value: Value) -> None:
        (self.module if name in self.globals else self).names[name] = value


def joined(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    """Return what is known of names when it is not known which of two ways was taken."""
    return {
        name: one[name] if one.get(name) is two.get(name) else UNKNOWN for name in (*one, *(two.keys() - one.keys()))
    }
