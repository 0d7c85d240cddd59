"""Follows a program from its first line as far as its text alone tells what happens. Nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from smspec.script.call import Call
from smspec.script.classes import Class, Instance, Super
from smspec.script.code import Codes, Uses, has_names_of_its_own
from smspec.script.file_use import note_call
from smspec.script.frame import Frame
from smspec.script.functions import Function, bind
from smspec.script.importing import import_names
from smspec.script.left_over import LeftOver
from smspec.script.lists import Items
from smspec.script.modules import Module
from smspec.script.names import Named
from smspec.script.program import (
    ChannelRead,
    CommandLine,
    FileUse,
    HyperparameterRead,
    ProcessGroup,
    Stop,
    VariableRead,
)
from smspec.script.reach import (
    ENDING_METHODS,
    ENVIRONMENTS,
    FRAMES,
    LOOKERS,
    RUN_CODE,
    SEE_OWN,
    STACKS,
    changed_by,
    copies,
    may_end,
    patches,
    sees_all,
)
from smspec.script.statements import Statements
from smspec.script.values import UNKNOWN, Value, text
from smspec.source import Span

MOST_STEPS = 50_000
DEEPEST = 12
"""How many functions may be inside of one another."""

Handler = Callable[[Call], Value]
Lookup = Callable[["Interpreter", Value, Span], Value]
Finder = Callable[["Interpreter", str], "Module | None"]


class TooManySteps(Exception):
    """The program does more than is looked at."""


class Interpreter:
    """What was seen on the way. ``is_certain``: what is looked at now happens in every run of the program.

    ``remembered`` is for readers whose library keeps what is declared for itself. ``is_blind``: names may be got at in
    ways that are not followed.
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
        self.file_uses: list[FileUse] = []
        self.process_groups: list[ProcessGroup] = []
        self.imported: set[str] = set()
        self.changed_variables: set[str] = set()
        self.changed_mappings: set[str] = set()
        self.stops: list[Stop] = []
        self.variables: list[VariableRead] = []
        self.left_over: dict[CommandLine, LeftOver] = {}
        self.codes = Codes()
        self.remembered: dict[str, object] = {}
        self.is_tampered = False
        self.is_certain = True
        self.is_blind = False
        self.why_blind = ""
        self.goes_other_way_for_one_word = False
        self._find_module = find_module
        self._frames: list[Frame] = []
        self._handler_of = handler_of
        self._lookup_of = lookup_of
        self._has_ended = False
        self._is_out_of_order = False
        self._steps = 0
        self._inside: list[Function] = []

    def module(self, tree: ast.Module, frame: Frame) -> None:
        """Follow a module from top to bottom."""
        certain = self.is_certain
        self._frames.append(frame)
        ending = Statements(self, frame).block(tree.body)
        self._frames.pop()
        if ending in ("exit", "raise"):
            self.ends()
        self.is_certain = certain and not self._has_ended

    def imported_module(self, name: str) -> Module | None:
        """Import a module that travels with the program; return None for one of elsewhere."""
        self.imported.add(name)
        return self._find_module(self, name)

    def taken_from(self, module: Module, name: str) -> Value:
        """Return what a module has under a name; whatever it will have, where nothing says when it is asked for."""
        if self._is_out_of_order:
            module.escape_by([name])
        return module.attribute(name)

    def imported_by_others(self, node: ast.Import | ast.ImportFrom, uses: Uses, frame: Frame) -> None:
        """Take note that code may import something at any time; ``frame`` is where it looks for names."""
        names = Frame(frame.source, frame.module)
        with self.out_of_order():
            import_names(self, names, node)
            for name, value in names.names.items():
                attributes = uses.get(name)
                if attributes is not None:
                    value.escape_by(attributes)
                elif not isinstance(value, Named) or value.name != name:  # else it is known where it is used
                    value.escape()

    @contextmanager
    def out_of_order(self) -> Iterator[None]:
        """Follow what may happen at any time, or never."""
        certain, before = self.is_certain, self._is_out_of_order
        self.is_certain, self._is_out_of_order = False, True
        yield
        self.is_certain, self._is_out_of_order = certain and not self._has_ended, before

    def entered(self, function: Function, call: Call, first: Sequence[Value]) -> Value:
        """Follow a call of a function of the program; return what is known of its result."""
        is_opaque = self.codes.of(function.node).yields or not function.frame.module.is_entered
        if is_opaque or function in self._inside or len(self._inside) >= DEEPEST:
            for value in (function, *first):
                value.escape()
            return call.lost()
        frame = Frame(function.frame.source, function.frame)
        bind(function, call, first, frame)
        certain = self.is_certain
        self._frames.append(frame)
        self._inside.append(function)
        ending = Statements(self, frame).block(function.node.body)
        self._inside.pop()
        self._frames.pop()
        if ending in ("exit", "raise"):
            self.ends()
        self.is_certain = certain and not self._has_ended
        # A function that may reach its end gives None there.
        if ending == "leave" and frame.returned and all(value is frame.returned[0] for value in frame.returned):
            return frame.returned[0]
        for value in frame.returned:
            value.escape()
        return UNKNOWN

    def called(self, name: str, call: Call) -> Value:
        """Return what a call of something of another module gives."""
        name = name.removeprefix("builtins.")
        note_call(self, name, call)
        handler = self._handler_of(name)
        if handler is not None:
            return handler(call)
        given = (*call.arguments, *call.keywords.values())
        if changed_by(name):
            self.handed_on(changed_by(name))
        elif may_end(name):
            self.ends()
        elif name == "super" and (above := self._above(call)) is not None:
            return above
        elif name in LOOKERS:
            return UNKNOWN
        elif copies(name):
            for value in given:
                value.look_through()
            return UNKNOWN
        elif name == "getattr" and len(given) in (2, 3) and (attribute := text(given[1])) is not None:
            return self.attribute_of(given[0], attribute)
        elif name in ("setattr", "delattr") and given and isinstance(given[0], Named):
            self.tampered_with(f"{given[0].name}.{text(given[1]) if len(given) > 1 else ''}")
        elif patches(name):
            self.tampered_with("sys.argv")
            self.tampered_with("os.environ")
        elif sees_all(name) and not (name == "vars" and given) and not has_names_of_its_own(call.node):
            self.sees(name, self._frames[-1])
        return call.lost()

    def _above(self, call: Call) -> Value | None:
        """Return ``super()`` of the method that is followed; None where that has no object that is known."""
        function = self._inside[-1] if self._inside else None
        if function is None or len(call.arguments) not in (0, 2):
            return None
        given = function.node.args
        own = next((parameter.arg for parameter in (*given.posonlyargs, *given.args)), "")
        instance = call.arguments[1] if call.arguments else self._frames[-1].names.get(own)
        if not isinstance(instance, Instance):
            return None
        kind = call.arguments[0] if call.arguments else instance.kind.that_defines(function)
        return Super(instance, kind if isinstance(kind, Class) else None)

    def attribute_of(self, owner: Value, name: str) -> Value:
        """Return an attribute. Who has a method that may end the program may call it, here or anywhere."""
        if name == "__dict__" and isinstance(owner, Named):
            owner.escape()
        if name in FRAMES:
            self.handed_on("globals")
        found = self.taken_from(owner, name) if isinstance(owner, Module) else owner.attribute(name)
        if name in ENDING_METHODS and not isinstance(found, Named) and not owner.follows(name):
            self.ends()
        return found

    def sees(self, name: str, frame: Frame) -> None:
        """Take note that code in a frame gets at names without writing them: all, or those of its own module."""
        if name in STACKS and not any(attribute in frame.source.text for attribute in FRAMES):
            return
        if name in SEE_OWN and frame.module is not self._frames[0]:
            frame.module.open()
        else:
            self.handed_on(name)

    def handed_on(self, name: str) -> None:
        """Take note that others have something of another module, with which they may change what readers rely on."""
        if sees_all(name):
            self.is_blind = True
        if may_end(name):
            self.ends()
        name = changed_by(name) or name
        if name in ("sys", "sys.argv"):
            self.is_tampered = True
        if name in ("os", "posix", *ENVIRONMENTS) or name in RUN_CODE:
            self.changed_variables.add("*")

    def gives_up(self, reason: str) -> None:
        """Take note of a module that is not followed: it may do all that a program may."""
        self.why_blind = self.why_blind or reason
        self.is_blind = True
        self.changed_variables.add("*")
        self.ends()

    def tampered_with(self, name: str) -> None:
        """Take note that a program changes what readers rely on."""
        if name.startswith(("sys.argv", "sys.modules", "argparse.", "click.", "absl.", "typer.")):
            self.is_tampered = True
        elif name in ENVIRONMENTS or name.startswith("os.environ."):
            self.changed_variables.add("*")

    def looked_up(self, name: str, key: Value, place: Span) -> Value:
        """Return what stands under a key of something of another module."""
        if sees_all(name):
            self.handed_on(name)
        lookup = self._lookup_of(name)
        return Items((Named(name, self), key)) if lookup is None else lookup(self, key, place)

    def may_have_set(self, variable: str) -> bool:
        """Return whether the program itself may set a variable of its environment."""
        return bool({"*", variable} & self.changed_variables)

    def step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > MOST_STEPS:
            raise TooManySteps

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
