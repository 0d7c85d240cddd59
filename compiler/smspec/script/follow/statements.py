"""Follow statements: which run in every run, and the values of names after them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from smspec.script.follow.classes import Class, Module
from smspec.script.follow.code import Ending, absolute, is_failing, is_failing_exit
from smspec.script.follow.control_flow import ControlFlow
from smspec.script.follow.evaluation import Assignment, Evaluation
from smspec.script.follow.facts import EXECS
from smspec.script.follow.frames import Call, Frame, Function, defaults_of
from smspec.script.follow.values import UNKNOWN, Named, Value, constant

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

_PLAIN = ("dataclasses.", "enum.", "functools.")
"""Decorators of classes that do not change their methods."""


class Statements:
    """The statements of one frame."""

    def __init__(self, run: ProgramInterpreter, frame: Frame) -> None:
        self.run = run
        self.frame = frame
        self._evaluation = Evaluation(run, frame)
        self.value = self._evaluation.value
        self.assign = Assignment(run, frame).assign
        self._ways = ControlFlow(run, frame, self.block)
        self._definitions = Definitions(run, frame, partial(_follow, run))

    def block(self, body: Sequence[ast.stmt]) -> Ending | None:
        """Follow statements in order; return how they end early, if they do."""
        for statement in body:
            self.run.step()
            ending = self._follow(statement)
            if ending is not None:
                return ending
        return None

    def _follow(self, node: ast.stmt) -> Ending | None:
        match node:
            case ast.Expr():
                return self._expression(node.value)
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.value(node.value))
                self._definitions.annotation(node.annotation)
            case ast.AugAssign():
                self._augment(node)
            case ast.Return():
                self.frame.returned.append(self.value(node.value))
                return "leave"
            case ast.Raise():
                self.value(node.exc)
                return "raise" if self._evaluation.fails(node.exc) else "exit"
            case ast.Break() | ast.Continue():
                return "leave"
            case ast.If():
                return self._ways.if_(node)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._ways.loop_(node)
            case ast.Try():
                return self._ways.try_(node)
            case ast.With() | ast.AsyncWith():
                return self._ways.with_(node)
            case ast.FunctionDef():
                self._definitions.function(node)
            case ast.ClassDef() if self.run.domain.follows_classes:
                self._definitions.class_(node)
            case ast.AsyncFunctionDef() | ast.ClassDef():
                self.frame.set(node.name, self.run.domain.defined(self.run, node, self.frame))
            case ast.Import() | ast.ImportFrom():
                import_names(self.run, self.frame, node)
            case ast.Global():
                self.frame.globals |= frozenset(node.names)
            case ast.Nonlocal():
                for name in node.names:
                    self.frame.forget_outer(name)
            case ast.Pass():
                pass
            case ast.Assert():
                self.value(node.test)
                with self.run.perhaps(self.frame):
                    self.value(node.msg)
            case ast.Delete():
                for target in node.targets:
                    owner = self.value(target.value) if isinstance(target, ast.Attribute | ast.Subscript) else UNKNOWN
                    if isinstance(target, ast.Subscript) and owner.loses_items:
                        owner.delete_item(self.value(target.slice))
                    else:
                        owner.escape()  # the attribute of a class has a new value, or is deleted
                        self.assign(target, UNKNOWN)
            case ast.Match():
                self._ways.match_(node)
            case _:
                self._forget(node)
        return None

    def _augment(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        if not isinstance(node.target, ast.Name) and not self.run.domain.follows_parts:
            value.escape()
            self.assign(node.target, UNKNOWN)
            return
        before = self.value(node.target)
        found = before.grown(node, value)
        self.assign(node.target, self._evaluation.operation(node, before, value) if found is None else found)

    def _expression(self, node: ast.expr) -> Ending | None:
        if isinstance(node, ast.Call) and self._evaluation.exits(node):
            values = [self.value(argument) for argument in node.args]
            for value in values:
                value.escape()
            status = constant(values[0]) if values and self._evaluation.full_name(node.func) not in EXECS else None
            return "raise" if is_failing(status) or is_failing_exit(node) else "exit"
        self.value(node)
        return None

    def _forget(self, node: ast.stmt) -> None:
        """Treat everything that an unknown statement may assign or pass on as unknown."""
        self.run.domain.reached(self.run, node, self.frame)
        self.run.ends()
        for name in sorted(self.run.codes.of(node).stored):
            self.frame.set(name, UNKNOWN)


def _follow(run: ProgramInterpreter, frame: Frame, body: Sequence[ast.stmt]) -> None:
    Statements(run, frame).block(body)


def import_names(run: ProgramInterpreter, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    """Bind the names of an import: modules of the source as they are, others by their full names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            found = run.imported_module(alias.name)
            if alias.asname is None:
                top = alias.name.partition(".")[0]
                frame.set(top, run.imported_module(top) or Named(top, run))
            else:
                frame.set(alias.asname, found or Named(alias.name, run))
        return
    name = absolute("." * node.level + (node.module or ""), frame.module.package)
    module = None if name is None else run.imported_module(name)
    for alias in node.names:
        if alias.name == "*":
            run.domain.starred(name or "", frame)
            brought = module.frame.names if module else {}
            if run.domain.star_replaces:
                frame.forget_values()  # a module that could not be followed may import others instead
            for one, value in tuple(brought.items()):
                if not one.startswith("_"):
                    frame.set(one, run.taken_from(module, one) if module else value)
        else:
            value = UNKNOWN if name is None else _brought(run, name, module, alias.name)
            frame.set(alias.asname or alias.name, value)


def _brought(run: ProgramInterpreter, source: str, module: Module | None, name: str) -> Value:
    """Return the value of ``from source import name``: an attribute of the module, or else a submodule."""
    if module is not None and module.has(name):
        return run.taken_from(module, name)
    below = run.imported_module(f"{source}.{name}")
    if below is not None:
        return below
    return Named(f"{source}.{name}", run) if module is None else run.taken_from(module, name)


class Definitions:
    """Definitions in one frame; ``follow`` follows the body of a class in a separate frame."""

    def __init__(
        self, run: ProgramInterpreter, frame: Frame, follow: Callable[[Frame, Sequence[ast.stmt]], object]
    ) -> None:
        self.run = run
        self.frame = frame
        self.value = Evaluation(run, frame).value
        self._follow = follow

    def function(self, node: ast.FunctionDef) -> None:
        """Define a function, with its decorators."""
        parameters = node.args
        plain = [*parameters.posonlyargs, *parameters.args]
        defaults = defaults_of(parameters, self.value)
        for parameter in (*plain, *parameters.kwonlyargs, *filter(None, (parameters.vararg, parameters.kwarg))):
            self.annotation(parameter.annotation)
        self.annotation(node.returns)
        decorators = [self.value(decorator) for decorator in node.decorator_list]
        function = Function(self.run, node, self.frame.of_functions, defaults)
        self.run.recorder.defined(function)
        value: Value = function
        bare = ast.copy_location(ast.Call(func=ast.Constant(value=None), args=[], keywords=[]), node)
        for decorator in reversed(decorators):
            value = decorator.decorate(value, Call(self.run, bare, (value,), {}, True))
        self.frame.set(node.name, value)

    def annotation(self, node: ast.expr | None) -> None:
        """Follow an annotation, which only some Python versions evaluate; only a call in it can have an effect."""
        if node is not None and any(isinstance(part, ast.Call) for part in ast.walk(node)):
            with self.run.perhaps(self.frame):
                self.value(node).escape()

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
