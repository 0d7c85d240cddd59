"""Functions of the script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.script.escaping import leak
from smspec.script.values import UNKNOWN, Value

if TYPE_CHECKING:
    import ast

    from smspec.script.call import Call
    from smspec.script.frame import Frame
    from smspec.script.interpreter import Interpreter


class Function(Value):
    """A function of the script. ``frame`` is where it looks up names, ``defaults`` are known by parameter."""

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


def bind(function: Function, call: Call, first: Sequence[Value], frame: Frame) -> None:
    """Assign the passed values to parameters."""
    parameters = function.node.args
    plain = [*parameters.posonlyargs, *parameters.args]
    for parameter in (*plain, *parameters.kwonlyargs):
        default = function.defaults.get(parameter.arg, UNKNOWN)
        frame.set(parameter.arg, call.keywords.get(parameter.arg, default if call.is_whole else UNKNOWN))
    given = (*first, *call.arguments)
    for index, value in enumerate(given):
        if index < len(plain) and call.is_whole:
            frame.set(plain[index].arg, value)
        else:
            value.escape()
    for name, value in call.keywords.items():
        if all(name != parameter.arg for parameter in (*plain, *parameters.kwonlyargs)):
            value.escape()
    for rest in (parameters.vararg, parameters.kwarg):
        if rest is not None:
            frame.set(rest.arg, UNKNOWN)
