"""Modules that are read with the script, and the script itself as a module."""

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


def absolute(source: str, package: str) -> str | None:
    """Return the full name after ``from`` in a module of ``package``; None if there are too few parent packages."""
    level = len(source) - len(source.lstrip("."))
    if level == 0:
        return source
    above = package.split(".") if package else []
    if level > len(above):
        return None
    return ".".join(filter(None, [*above[: len(above) - level + 1], source[level:]]))
