"""Modules that are read with the program, and the program itself as a module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from smspec.script.values import UNKNOWN, Value

if TYPE_CHECKING:
    from smspec.script.frame import Frame


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
        """Return whether it has a name by now."""
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
        self.frame.leak(name)  # of a module that is still at work, others have what it is yet to set
        return UNKNOWN

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        self.frame.forget_for_good(name)


def absolute(source: str, package: str) -> str | None:
    """Return the full name behind ``from`` in a module of ``package``; None where no package is so far up."""
    level = len(source) - len(source.lstrip("."))
    if level == 0:
        return source
    above = package.split(".") if package else []
    if level > len(above):
        return None
    return ".".join(filter(None, [*above[: len(above) - level + 1], source[level:]]))
