"""Modules of the source that are read with the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.values import UNKNOWN, Value

if TYPE_CHECKING:
    from smspec.script.frame import Frame


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
