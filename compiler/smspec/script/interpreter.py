"""Follows a program from its first line as far as its text alone tells what happens. Nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from smspec.script.call import Call
from smspec.script.frame import Frame
from smspec.script.program import ChannelRead, CommandLine, HyperparameterRead
from smspec.script.statements import Statements
from smspec.script.values import UNKNOWN, Function, Items, Module, Named, Value
from smspec.source import Span

MOST_STEPS = 50_000
DEEPEST = 12
"""How many functions may be inside of one another."""

Handler = Callable[[Call], Value]
Lookup = Callable[["Interpreter", Value, Span], Value]
Finder = Callable[["Interpreter", str], "Module | None"]

_CHANGES = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort")


class TooLong(Exception):
    """The program does more than is looked at."""


class Interpreter:
    """What was seen on the way. ``is_certain``: what is looked at now happens in every run of the program.

    ``swallowed``: what a `try` around it would catch, of ``exit`` and ``error``. ``remembered`` is for readers whose
    library keeps what is declared for itself.
    """

    def __init__(
        self,
        handler_of: Callable[[str], Handler | None],
        lookup_of: Callable[[str], Lookup | None],
        find_module: Finder,
    ) -> None:
        self.command_lines: list[CommandLine] = []
        self.channels: list[ChannelRead] = []
        self.hyperparameters: list[HyperparameterRead] = []
        self.imported: set[str] = set()
        self.changed_variables: set[str] = set()
        self.changed_mappings: set[str] = set()
        self.remembered: dict[str, object] = {}
        self.is_tampered = False
        self.is_certain = True
        self.swallowed: frozenset[str] = frozenset()
        self.goes_other_way_for_one_word = False
        self._find_module = find_module
        self._frames: list[Frame] = []
        self._handler_of = handler_of
        self._lookup_of = lookup_of
        self._has_ended = False
        self._steps = 0
        self._inside: list[Function] = []

    def module(self, tree: ast.Module, frame: Frame) -> None:
        """Follow a module from top to bottom."""
        self._frames.append(frame)
        Statements(self, frame).block(tree.body)
        self._frames.pop()

    def imported_module(self, name: str) -> Module | None:
        """Return a module that lies beside the program and could be followed."""
        self.imported.add(name)
        return self._find_module(self, name)

    def entered(self, function: Function, call: Call, first: Sequence[Value]) -> Value:
        """Follow a call of a function of the program; return what is known of its result."""
        is_generator = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function.node))
        if is_generator or function in self._inside or len(self._inside) >= DEEPEST:
            return call.lost()
        frame = Frame(function.frame.source, function.frame)
        _bind(function, call, first, frame)
        certain = self.is_certain
        self._frames.append(frame)
        self._inside.append(function)
        Statements(self, frame).block(function.node.body)
        self._inside.pop()
        self._frames.pop()
        self.is_certain = certain and not self._has_ended
        if frame.returned and all(value is frame.returned[0] for value in frame.returned):
            return frame.returned[0]
        for value in frame.returned:
            value.escape()
        return UNKNOWN

    def called(self, name: str, call: Call) -> Value:
        """Return what a call of something of another module gives."""
        handler = self._handler_of(name)
        if handler is not None:
            return handler(call)
        owner, _, method = name.rpartition(".")
        if owner in ("sys.argv", "sys.argv[1:]") and method in _CHANGES:
            self.is_tampered = True
        return call.lost()

    def looked_up(self, name: str, key: Value, place: Span) -> Value:
        """Return what stands under a key of something of another module."""
        lookup = self._lookup_of(name)
        return Items((Named(name), key)) if lookup is None else lookup(self, key, place)

    def may_have_set(self, variable: str) -> bool:
        """Tell whether the program itself may set a variable of its environment."""
        return bool({"*", variable} & self.changed_variables)

    def step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLong

    def ends(self) -> None:
        """Take note that the program may have ended here."""
        self._has_ended = True
        self.is_certain = False

    @contextmanager
    def perhaps(self, frame: Frame) -> Iterator[None]:
        """Follow what may happen or not."""
        before, self.is_certain = self.is_certain, False
        yield
        self.is_certain = before and not frame.has_left and not self._has_ended

    def place(self, node: ast.expr | ast.stmt) -> Span:
        """Return where a part of the program stands that is being followed."""
        return place_of(node, self._frames[-1])


def place_of(node: ast.expr | ast.stmt | ast.arg, frame: Frame) -> Span:
    """Return where a part of a program stands, columns in code points."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(
        frame.source.name,
        node.lineno,
        _column(frame.lines[node.lineno - 1], node.col_offset),
        end_line,
        _column(frame.lines[end_line - 1], end),
    )


def _column(line: str, offset: int) -> int:
    """Return the column of a byte of a line in UTF-8, counted from 1."""
    return 1 + (offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace")))


def _bind(function: Function, call: Call, first: Sequence[Value], frame: Frame) -> None:
    """Give parameters what is passed for them."""
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
