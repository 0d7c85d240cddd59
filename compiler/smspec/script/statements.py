"""Follows statements: which happen in every run, and what names stand for after them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from smspec.script.assignment import Assignment
from smspec.script.call import Call
from smspec.script.conditions import asks_for_one_word
from smspec.script.evaluation import Evaluation
from smspec.script.file_use import note_ensured
from smspec.script.frame import Frame, joined
from smspec.script.importing import import_names
from smspec.script.leaking import leak
from smspec.script.reach import EXECS, EXITS, lets_errors_through
from smspec.script.values import UNKNOWN, Class, Function, Named, Value, constant

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter

Ending = Literal["raise", "leave", "exit"]
"""How a block ends early: with a failure, by leaving the function or the loop, or the whole program."""

_FAILURES = ("Error", "Exception", "Interrupt", "Warning")
"""How names of exceptions end that fail a job; SystemExit may end it well."""


_LEAVING = (ast.Return, ast.Break, ast.Continue)
_PLAIN = ("dataclasses.", "enum.", "functools.")
"""Decorators of classes that leave their methods alone."""


class Statements:
    """The statements of one frame."""

    def __init__(self, run: Interpreter, frame: Frame) -> None:
        self.run = run
        self.frame = frame
        self.value = Evaluation(run, frame).value
        self.assign = Assignment(run, frame).assign

    def block(self, body: Sequence[ast.stmt]) -> Ending | None:
        """Follow statements one after the other; return how they end, if not at their end."""
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
            case ast.AugAssign():
                self.value(node.value).escape()
                if isinstance(node.target, ast.Name):
                    self.value(node.target).escape()  # a list is changed where it is, whoever else has it
                self.assign(node.target, UNKNOWN)
            case ast.Return():
                self.frame.returned.append(self.value(node.value))
                return "leave"
            case ast.Raise():
                self.value(node.exc)
                return "raise" if _is_failure(node.exc) else "exit"
            case ast.Break() | ast.Continue():
                return "leave"
            case ast.If():
                return self._if(node)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(node)
            case ast.Try():
                return self._try(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.FunctionDef():
                self._function(node)
            case ast.AsyncFunctionDef():
                leak(self.run, node, self.frame)
                self.frame.set(node.name, UNKNOWN)
            case ast.ClassDef():
                self._class(node)
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
            case ast.Delete():
                for target in node.targets:
                    self.assign(target, UNKNOWN)
            case ast.Match():
                self._match(node)
            case _:
                self._forget(node)
        return None

    def _expression(self, node: ast.expr) -> Ending | None:
        if isinstance(node, ast.Call) and self._exits(node):
            values = [self.value(argument) for argument in node.args]
            for value in values:
                value.escape()
            status = constant(values[0]) if values and self._name(node.func) not in EXECS else None
            return "exit" if status in (None, 0, ...) else "raise"
        self.value(node)
        return None

    def _name(self, node: ast.expr) -> str:
        """Return the full name of something of another module that is named plainly."""
        if isinstance(node, ast.Name):
            found = self.value(node)
            return found.name if isinstance(found, Named) else ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = self._name(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def _if(self, node: ast.If) -> Ending | None:
        test = self.value(node.test)
        known = constant(test)
        if known is not ...:
            return self.block(node.body if known else node.orelse)
        note_ensured(self.run, node, self._name, self.value)
        if asks_for_one_word(node.test) and self._goes_on_otherwise(node.body):
            # `if len(sys.argv) == 2 and …: read a file`, the way of the examples of transformers.
            with self.run.perhaps(self.frame):
                before = dict(self.frame.names)
                self.block(node.body)
            taken, self.frame.names = self.frame.names, before
            self.run.goes_other_way_for_one_word = True
            ending = self.block(node.orelse)
            self.frame.names = joined(self.frame.names, taken)
            return ending
        return self._branches([node.body, node.orelse], is_one_taken=True)

    def _goes_on_otherwise(self, body: Sequence[ast.stmt]) -> bool:
        """Tell whether a branch has no end of its own, so that what follows follows both."""
        return not any(isinstance(part, ast.Return | ast.Raise) for node in body for part in ast.walk(node))

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], *, is_one_taken: bool) -> Ending | None:
        """Follow ways of which one at most is taken. What fails in all of them fails."""
        before = self.frame.names
        ends: list[Ending | None] = [] if is_one_taken else [None]
        after = [] if is_one_taken else [before]
        with self.run.perhaps(self.frame):
            for body in bodies:
                self.frame.names = dict(before)
                ending = self.block(body)
                ends.append(ending)
                if ending is None:
                    after.append(self.frame.names)
            if None in ends:
                self._note(ends)
        self.frame.names = after[0] if after else before
        for names in after[1:]:
            self.frame.names = joined(self.frame.names, names)
        if None in ends:
            return None
        return ends[0] if len(set(ends)) == 1 else "leave"

    def _note(self, ends: Iterable[Ending | None]) -> None:
        """Take note of ways that do not come back. One that fails is no other way to success."""
        if "leave" in ends:
            self.frame.has_left = True
        if "exit" in ends:
            self.run.ends()

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        if isinstance(node, ast.While):
            self.value(node.test)
        else:
            self.value(node.iter).look_through()
            self.assign(node.target, UNKNOWN)
        for name in _assigned(node.body):
            self.frame.set(name, UNKNOWN)
        self._branches([node.body, node.orelse], is_one_taken=False)
        if any(isinstance(part, ast.Return) for inner in node.body for part in ast.walk(inner)):
            self.frame.has_left = True
            self.run.is_certain = False

    def _try(self, node: ast.Try) -> Ending | None:
        before = dict(self.frame.names)
        if self._goes_on(node):
            with self.run.perhaps(self.frame):  # whatever fails in it may lead to another way
                ending = self.block(node.body)
        else:
            ending = self.block(node.body)
        after = self.frame.names
        if ending is None:
            ending = self.block(node.orelse)
        if node.handlers:
            self.frame.names = joined(before, after)
            handled = self._branches([handler.body for handler in node.handlers], is_one_taken=True)
            self.frame.names = after if handled is not None else joined(after, self.frame.names)
            if ending is not None and handled is None:
                self._note([ending])
                self.run.is_certain = False
                ending = None
        return self.block(node.finalbody) or ending

    def _goes_on(self, node: ast.Try) -> bool:
        """Tell whether the program may go on after a failure within."""
        leaves = any(isinstance(part, _LEAVING) for last in node.finalbody for part in ast.walk(last))
        return leaves or any(
            not self._always_fails(handler)
            and not (isinstance(handler.type, ast.Name) and handler.type.id == "KeyboardInterrupt")
            for handler in node.handlers
        )

    def _always_fails(self, handler: ast.ExceptHandler) -> bool:
        """Tell whether a handler ends the program with a failure, or raises, and has no other way out."""
        *before, last = handler.body
        if any(self._may_leave(part) for node in before for part in ast.walk(node)):
            return False
        if isinstance(last, ast.Expr) and self._exits(last.value):
            status = last.value.args[0] if isinstance(last.value, ast.Call) and last.value.args else None
            return isinstance(status, ast.Constant) and isinstance(status.value, int) and status.value != 0
        return isinstance(last, ast.Raise) and _is_failure(last.exc)

    def _may_leave(self, node: ast.AST) -> bool:
        return isinstance(node, _LEAVING) or self._exits(node)

    def _exits(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._name(node.func) in EXITS

    def _with(self, node: ast.With | ast.AsyncWith) -> Ending | None:
        is_reliable = True
        for item in node.items:
            called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            is_reliable &= lets_errors_through(self._name(called))
            value = self.value(item.context_expr)
            value.escape()
            if item.optional_vars is not None:
                self.assign(item.optional_vars, UNKNOWN)
        if is_reliable:
            return self.block(node.body)
        with self.run.perhaps(self.frame):  # it may catch whatever fails in it
            ending = self.block(node.body)
        if ending is not None:
            self._note([ending])
            self.run.is_certain = False
        return None

    def _match(self, node: ast.Match) -> None:
        self.value(node.subject).escape()
        for case in node.cases:
            for part in ast.walk(case.pattern):
                for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if isinstance(name, str):
                        self.frame.set(name, UNKNOWN)
            if case.guard is not None:
                with self.run.perhaps(self.frame):
                    self.value(case.guard).escape()
        self._branches([case.body for case in node.cases], is_one_taken=False)

    def _function(self, node: ast.FunctionDef) -> None:
        parameters = node.args
        plain = [*parameters.posonlyargs, *parameters.args]
        defaults = dict(
            zip([p.arg for p in plain][::-1], [self.value(d) for d in parameters.defaults][::-1], strict=False)
        )
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
            if default is not None:
                defaults[parameter.arg] = self.value(default)
        decorators = [self._decorator(decorator) for decorator in node.decorator_list]
        value: Value = Function(self.run, node, self.frame.of_functions, defaults)
        bare = ast.copy_location(ast.Call(func=ast.Constant(value=None), args=[], keywords=[]), node)
        for decorator in reversed(decorators):
            value = decorator.decorate(value, Call(self.run, bare, (value,), {}, True))
        self.frame.set(node.name, value)

    def _decorator(self, node: ast.expr) -> Value:
        value = self.value(node)
        if isinstance(value, Named) and value.name == "click.command":  # it may stand without a call
            bare = ast.copy_location(ast.Call(func=node, args=[], keywords=[]), node)
            return self.run.called(value.name, Call(self.run, bare, (), {}, True))
        return value

    def _class(self, node: ast.ClassDef) -> None:
        decorators = tuple(self.value(decorator) for decorator in node.decorator_list)
        bases = tuple(self.value(base) for base in node.bases)
        body = Frame(self.frame.source, self.frame)
        body.is_class = True
        Statements(self.run, body).block(node.body)
        made = Class(self.run, node, body, decorators, bases)
        for name, value in body.names.items():
            if name.startswith("__") and name != "__init__":
                value.escape()  # nothing says where it is called
        if node.keywords or not all(isinstance(one, Named) and one.name.startswith(_PLAIN) for one in decorators):
            made.escape()
        self.frame.set(node.name, made)

    def _forget(self, node: ast.stmt) -> None:
        """Know nothing of what an unknown statement may assign, or hand on."""
        leak(self.run, node, self.frame)
        self.run.ends()
        for name in _assigned([node]):
            self.frame.set(name, UNKNOWN)


def _is_failure(raised: ast.expr | None) -> bool:
    """Tell whether an exception ends a job with a failure, if nothing catches it; a bare `raise` goes on with one."""
    if raised is None:
        return True
    kind = raised.func if isinstance(raised, ast.Call) else raised
    name = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
    if name == "SystemExit" and isinstance(raised, ast.Call) and raised.args:
        return isinstance(raised.args[0], ast.Constant) and raised.args[0].value not in (0, None, False)
    return name.endswith(_FAILURES)


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    return {
        part.id
        for node in body
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
