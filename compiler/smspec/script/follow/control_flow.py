"""Control flow: branches, loops, and exception handlers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from smspec.script.follow.classes import never_suppresses
from smspec.script.follow.code import LEAVING, Ending, is_failing
from smspec.script.follow.evaluation import Assignment, Evaluation
from smspec.script.follow.facts import lets_errors_through, suppresses
from smspec.script.follow.frames import Call, Frame, Repeats
from smspec.script.follow.values import UNKNOWN, Value, constant

if TYPE_CHECKING:
    from smspec.script.follow.domain import Names
    from smspec.script.follow.interpreter import ProgramInterpreter

Follow = Callable[[Sequence[ast.stmt]], "Ending | None"]


class ControlFlow:
    """Control flow in one frame; ``follow`` follows statements in order, and returns how they end."""

    def __init__(self, run: ProgramInterpreter, frame: Frame, follow: Follow) -> None:
        self.run = run
        self.frame = frame
        self._evaluation = Evaluation(run, frame)
        self.value = self._evaluation.value
        self.assign = Assignment(run, frame).assign
        self._block = follow

    def if_(self, node: ast.If) -> Ending | None:
        """Follow the branches of an `if`."""
        test = self.value(node.test)
        known = test.truth()
        if known is not None:
            return self._block(node.body if known else node.orelse)
        self.run.recorder.tested(node, self._evaluation)
        if asks_for_one_word(node.test) and self._goes_on_otherwise(node.body):
            # `if len(sys.argv) == 2 and …: read a file`, as in the examples of transformers.
            with self.run.perhaps(self.frame):
                before = self.run.domain.apart(self.frame)
                self._block(node.body)
            taken, self.frame.names = self.frame.names, before
            self.run.goes_other_way_for_one_word = True
            ending = self._block(node.orelse)
            self.frame.names = self.run.domain.joined(self.frame.names, taken)
            return ending
        return self._branches([node.body, node.orelse])

    def _goes_on_otherwise(self, body: Sequence[ast.stmt]) -> bool:
        """Return whether a branch does not end early, so that the following statements run after either branch."""
        return not any(isinstance(part, ast.Return | ast.Raise) for node in body for part in ast.walk(node))

    def _repeats(self, node: ast.For | ast.AsyncFor) -> Repeats | None:
        """Return how often a loop over a `range` runs, if every run of the script reaches all of its passes."""
        loop = node.iter
        if (
            not self.run.is_certain
            or not isinstance(loop, ast.Call)
            or self._evaluation.full_name(loop.func) != "range"
        ):
            return None
        if any(isinstance(part, LEAVING) for statement in node.body for part in ast.walk(statement)):
            return None
        bounds = [constant(self.value(bound)) for bound in loop.args]
        if len(bounds) == 1 and isinstance(bounds[0], int):
            return bounds[0], ""
        if len(bounds) == 2 and isinstance(bounds[0], int) and isinstance(bounds[1], int):
            return bounds[1] - bounds[0], ""
        last = loop.args[0] if len(loop.args) == 1 else None
        return (None, last.attr) if isinstance(last, ast.Attribute) else None

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], *, repeats: Repeats | None = None) -> Ending | None:
        """Follow branches of which one runs. A failure in all of them is certain.

        ``repeats``: the first is the body of a loop that certainly runs.
        """
        domain = self.run.domain
        before = domain.apart(self.frame)
        ends: list[Ending | None] = []
        after: list[Names] = []
        with self.run.perhaps(self.frame):
            for index in domain.order(bodies):
                if ends:
                    self.frame.names = domain.branch(before)
                self.run.repeats = None if index else repeats
                ending = self._block(bodies[index])
                ends.append(ending)
                if ending is None:
                    after.append(self.frame.names)
                elif ending == "leave" and self.frame.outer is not None:
                    self.frame.departures.append(self.frame.names)
            self.frame.is_apart |= ends[0] is not None
            if None in ends:
                self._note(ends)
        self.frame.names = after[0] if after else before
        for names in after[1:]:
            self.frame.names = domain.joined(self.frame.names, names)
        if None in ends:
            return None
        return ends[0] if len(set(ends)) == 1 else "leave"

    def _note(self, ends: Iterable[Ending | None]) -> None:
        """Record branches that end early. One that fails is not an alternative to success."""
        if "leave" in ends:
            self.frame.has_left = True
        if "exit" in ends:
            self.run.ends()

    def loop_(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Follow a loop, which may run any number of times, or never."""
        repeats: Repeats | None = None
        iterated: Value | None = None
        if isinstance(node, ast.While):
            self.value(node.test)
        else:
            repeats = self._repeats(node)
            iterated = self.value(node.iter)
            if isinstance(node, ast.For) and self._passes(node, iterated):
                return
            iterated.take()
            iterated.look_through()
        self.run.domain.doubted(self.run, node, self.frame)
        code = self.run.codes.of(node)
        for name in sorted(code.stored):
            self.frame.names.get(name, UNKNOWN).escape()  # it is used under that name in the first iteration
            self.frame.set(name, UNKNOWN)
        if not isinstance(node, ast.While):
            self.assign(node.target, UNKNOWN if iterated is None else self.run.domain.element(iterated))
        self._branches([node.body, node.orelse, []], repeats=repeats)
        if code.returns:
            self.frame.has_left = True
            self.run.is_certain = False

    def _passes(self, node: ast.For, iterated: Value) -> bool:
        """Follow each pass of a loop, if its items are known, and nothing leaves it; return whether that was done."""
        passes = self.run.domain.passes(iterated)
        leaves = any(isinstance(part, LEAVING) for statement in node.body for part in ast.walk(statement))
        if passes is None or leaves or node.orelse:
            return False
        rest = list(passes)
        number = 0
        while number < len(rest):
            self.assign(node.target, rest[number])
            self.run.rounds.append(number)
            self._block(node.body)
            self.run.rounds.pop()
            number += 1
            rest += (self.run.domain.passes(iterated) or ())[len(rest) :]  # a pass may add items
        return True

    def try_(self, node: ast.Try) -> Ending | None:
        """Follow a `try` with its handlers."""
        domain = self.run.domain
        before = domain.apart(self.frame)
        if self._goes_on(node):
            with self.run.perhaps(self.frame):  # whatever fails in it may lead to a handler
                ending = self._block(node.body)
        else:
            ending = self._block(node.body)
        after = self.frame.names
        if ending is None:
            ending = self._block(node.orelse)
        if node.handlers:
            self.frame.names = domain.interrupted(before, after)
            with self.run.perhaps(self.frame):
                for handler in node.handlers:
                    self.value(handler.type)
            handled = self._branches([handler.body for handler in node.handlers])
            self.frame.names = after if handled is not None else domain.handled(after, self.frame.names)
            if ending is not None and handled is None:
                self._note([ending])
                self.run.is_certain = False
                ending = None
        return self._block(node.finalbody) or ending

    def _goes_on(self, node: ast.Try) -> bool:
        """Return whether the script may continue after a failure within."""
        leaves = any(self._may_leave(part) for last in node.finalbody for part in ast.walk(last))
        return leaves or any(
            not self._always_fails(handler)
            and not (isinstance(handler.type, ast.Name) and handler.type.id == "KeyboardInterrupt")
            for handler in node.handlers
        )

    def _always_fails(self, handler: ast.ExceptHandler) -> bool:
        """Return whether a handler always fails the script, or raises."""
        *before, last = handler.body
        if any(self._may_leave(part) for node in before for part in ast.walk(node)):
            return False
        if isinstance(last, ast.Expr) and self._evaluation.exits(last.value):
            status = last.value.args[0] if isinstance(last.value, ast.Call) and last.value.args else None
            return isinstance(status, ast.Constant) and is_failing(status.value)
        return isinstance(last, ast.Raise) and self._evaluation.fails(last.exc)

    def _may_leave(self, node: ast.AST) -> bool:
        return isinstance(node, LEAVING) or self._evaluation.exits(node)

    def with_(self, node: ast.With | ast.AsyncWith) -> Ending | None:
        """Follow a block with context managers, which may suppress exceptions."""
        is_reliable, stops_early = True, False
        contexts: list[Value] = []
        for item in node.items:
            called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            value = self.value(item.context_expr)
            name = self._evaluation.full_name(called)
            is_reliable &= lets_errors_through(name) or never_suppresses(value)
            stops_early |= suppresses(name)
            value.take()
            entered = self.run.recorder.context_entered(value)
            if entered is not None:
                contexts.append(value)
            elif isinstance(node, ast.With):
                entered = self._entered(value, item.context_expr)
            if entered is None:
                value.escape()
                entered = value.entered()
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
        if is_reliable:
            return self._block(node.body)
        domain = self.run.domain
        before = domain.apart(self.frame) if stops_early else {}
        with self.run.perhaps(self.frame):  # it may suppress exceptions in the block
            ending = self._block(node.body)
            for context in reversed(contexts):
                self.run.recorder.context_left(context)
        if stops_early:
            self.frame.names = domain.handled(self.frame.names, domain.interrupted(before, self.frame.names))
        if ending is not None:
            self._note([ending])
            self.run.is_certain = False
        return None

    def _entered(self, value: Value, node: ast.expr) -> Value | None:
        """Return the result of `__enter__` of a class of the script; None for any other context manager."""
        if not value.follows("__enter__"):
            return None
        bare = ast.copy_location(ast.Call(func=ast.Constant(value=None), args=[], keywords=[]), node)
        found = value.method("__enter__", Call(self.run, bare, (), {}, True))
        with self.run.perhaps(self.frame):  # the block may end the script
            value.method("__exit__", Call(self.run, bare, (UNKNOWN,) * 3, {}, True))
        return found

    def match_(self, node: ast.Match) -> None:
        """Follow a `match`."""
        self.value(node.subject).escape()
        for case in node.cases:
            for part in ast.walk(case.pattern):
                for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                    if isinstance(name, str):
                        self.frame.set(name, UNKNOWN)
            if case.guard is not None:
                with self.run.perhaps(self.frame):
                    self.value(case.guard).escape()
        self._branches([*(case.body for case in node.cases), []])


def asks_for_one_word(test: ast.expr) -> bool:
    """Return whether a condition is only true with a single word on the command line."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(asks_for_one_word, test.values))
    match test:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=ast.Name(id="sys"), attr="argv")]),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=2)],
        ):
            return True
    return False
