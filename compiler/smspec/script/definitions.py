"""Definitions of functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.evaluation import Evaluation
from smspec.script.external_names import Named
from smspec.script.frame import Frame
from smspec.script.functions import Function
from smspec.script.values import UNKNOWN, Value

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter

_PLAIN = ("dataclasses.", "enum.", "functools.")
"""Decorators of classes that do not change their methods."""


class Definitions:
    """Definitions in one frame; ``follow`` follows the body of a class in a separate frame."""

    def __init__(self, run: Interpreter, frame: Frame, follow: Callable[[Frame, Sequence[ast.stmt]], object]) -> None:
        self.run = run
        self.frame = frame
        self.value = Evaluation(run, frame).value
        self._follow = follow

    def function(self, node: ast.FunctionDef) -> None:
        """Define a function, with its decorators."""
        parameters = node.args
        plain = [*parameters.posonlyargs, *parameters.args]
        defaults = dict(
            zip([p.arg for p in plain][::-1], [self.value(d) for d in parameters.defaults][::-1], strict=False)
        )
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
            if default is not None:
                defaults[parameter.arg] = self.value(default)
        for parameter in (*plain, *parameters.kwonlyargs, *filter(None, (parameters.vararg, parameters.kwarg))):
            self.annotation(parameter.annotation)
        self.annotation(node.returns)
        decorators = [self._decorator(decorator) for decorator in node.decorator_list]
        value: Value = Function(self.run, node, self.frame.of_functions, defaults)
        bare = ast.copy_location(ast.Call(func=ast.Constant(value=None), args=[], keywords=[]), node)
        for decorator in reversed(decorators):
            value = decorator.decorate(value, Call(self.run, bare, (value,), {}, True))
        self.frame.set(node.name, value)

    def annotation(self, node: ast.expr | None) -> None:
        """Follow an annotation, which only some Python versions evaluate; only a call in it can have an effect."""
        if node is not None and any(isinstance(part, ast.Call) for part in ast.walk(node)):
            with self.run.perhaps(self.frame):
                self.value(node).escape()

    def _decorator(self, node: ast.expr) -> Value:
        value = self.value(node)
        if isinstance(value, Named) and value.name == "click.command":  # it may be used without a call
            bare = ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)
            return self.run.called(value.name, Call(self.run, bare, (), {}, True))
        return value

    def class_(self, node: ast.ClassDef) -> None:
        """Define a class."""
        decorators = tuple(self.value(decorator) for decorator in node.decorator_list)
        bases = tuple(self.value(base) for base in node.bases)
        body = Frame(self.frame.source, self.frame)
        body.is_class = True
        self._follow(body, node.body)
        made = Class(self.run, node, body, decorators, bases)
        if not made.is_plain:
            made.wake()  # a decorator may have created an instance or called a method
        if any(isinstance(base, Named) and base.name.startswith("enum.") for base in bases):
            body.names.get("__init__", UNKNOWN).escape()  # its members are instances
        if node.keywords or not all(isinstance(one, Named) and one.name.startswith(_PLAIN) for one in decorators):
            made.escape()
        self.frame.set(node.name, made)
