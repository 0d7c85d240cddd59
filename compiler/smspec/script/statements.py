"""Follow statements: which run in every run, and the values of names after them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from smspec.script.assignment import Assignment
from smspec.script.block_endings import Ending, is_failing
from smspec.script.call_effects import EXECS
from smspec.script.control_flow import ControlFlow
from smspec.script.definitions import Definitions
from smspec.script.escaping import leak
from smspec.script.evaluation import Evaluation
from smspec.script.frame import Frame
from smspec.script.importing import import_names
from smspec.script.values import UNKNOWN, constant

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter


class Statements:
    """The statements of one frame."""

    def __init__(self, run: Interpreter, frame: Frame) -> None:
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
                self.value(node.value).escape()
                if isinstance(node.target, ast.Name):
                    self.value(node.target).escape()  # a list is changed in place, also for other code that has it
                self.assign(node.target, UNKNOWN)
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
            case ast.AsyncFunctionDef():
                leak(self.run, node, self.frame)
                self.frame.set(node.name, UNKNOWN)
            case ast.ClassDef():
                self._definitions.class_(node)
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
                    if isinstance(target, ast.Attribute):
                        self.value(target.value).escape()  # the attribute of a class has a new value, or is deleted
                    self.assign(target, UNKNOWN)
            case ast.Match():
                self._ways.match_(node)
            case _:
                self._forget(node)
        return None

    def _expression(self, node: ast.expr) -> Ending | None:
        if isinstance(node, ast.Call) and self._evaluation.exits(node):
            values = [self.value(argument) for argument in node.args]
            for value in values:
                value.escape()
            status = constant(values[0]) if values and self._evaluation.full_name(node.func) not in EXECS else None
            return "raise" if is_failing(status) else "exit"
        self.value(node)
        return None

    def _forget(self, node: ast.stmt) -> None:
        """Treat everything that an unknown statement may assign or pass on as unknown."""
        leak(self.run, node, self.frame)
        self.run.ends()
        for name in sorted(self.run.codes.of(node).stored):
            self.frame.set(name, UNKNOWN)


def _follow(run: Interpreter, frame: Frame, body: Sequence[ast.stmt]) -> None:
    Statements(run, frame).block(body)
