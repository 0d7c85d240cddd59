"""Follow a program from its first line as far as its text shows what happens, without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from smspec.script.follow.classes import Class, Instance, Module, Super
from smspec.script.follow.code import Codes, Uses, has_names_of_its_own
from smspec.script.follow.domain import Domain
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.facts import (
    ENDING_METHODS,
    ENVIRONMENTS,
    FRAMES,
    LISTS,
    LOOKERS,
    RUN_CODE,
    SEE_OWN,
    STACKS,
    TAKERS,
    TRANSPARENT,
    changed_by,
    copies,
    is_instance,
    looked_at,
    may_end,
    patches,
    sees_all,
)
from smspec.script.follow.frames import Call, Frame, Function, Generated, Repeats, Unchanging, bind
from smspec.script.follow.statements import Statements, import_names
from smspec.script.follow.values import UNKNOWN, Items, Known, Named, Value, items, text
from smspec.source import Span

MOST_STEPS = 50_000
_MOST_STEPS_APART = 1_000
DEEPEST = 12
"""The maximum depth of nested function calls."""

Finder = Callable[["ProgramInterpreter", str], "Module | None"]


class TooManySteps(Exception):
    """The script has more steps than the limit."""


class Recorder:
    """It comes along while a program is followed, knows libraries, and records what it sees. This one does neither."""

    def called(self, _name: str, _call: Call) -> Value | None:
        """Return the result of a call of something of another module; None if it is not known."""
        return None

    def method_called(self, _owner: Value, _name: str, _call: Call) -> Value | None:
        """See a call of a method, and return its result; None if it is that of any other value."""
        return None

    def attribute(self, _owner: Value, _name: str) -> Value | None:
        """Return an attribute; None if it is that of any other value."""
        return None

    def item(self, _owner: Value, _key: Value) -> Value | None:
        """Return the value under a key; None if it is that of any other value."""
        return None

    def looked_up(self, _run: ProgramInterpreter, _name: str, _key: Value, _place: Span) -> Value | None:
        """Return the value under a key of something of another module; None if it is not known."""
        return None

    def attribute_set(self, _owner: Value, _name: str, _value: Value, _node: ast.expr) -> None:
        """See that an attribute of a value, or an entry of something of another module, is set."""

    def defined(self, _function: Function) -> None:
        """See the definition of a function."""

    def context_entered(self, _manager: Value) -> Value | None:
        """Return what `with` assigns for a context manager; None if that is not followed."""
        return None

    def context_left(self, _manager: Value) -> None:
        """See the end of a block of a context manager that is followed."""

    def not_followed(self, _call: Call) -> None:
        """See a call of which nothing is known."""

    def may_write(self) -> None:
        """See that code which is not followed, or runs at any time, may make a file."""

    def tested(self, node: ast.If, evaluation: Evaluation) -> None:
        """See a branch of which the condition is not known."""


class ProgramInterpreter:
    """The state of the program so far. ``is_certain``: the current code runs in every run of it.

    ``is_blind``: names may be accessed in ways that are not followed. ``is_tampered``: what readers rely on may have
    been changed, ``changed_variables``: also these of the environment.
    """

    def __init__(
        self, recorder: Recorder, find_module: Finder, domain: Domain | None = None, *, most_steps: int = MOST_STEPS
    ) -> None:
        self.recorder = recorder
        self.domain = domain or Domain()
        self.codes = Codes()
        self.imported: set[str] = set()
        self.changed_variables: set[str] = set()
        self.repeats: Repeats | None = None
        self.rounds: list[int] = []
        self.is_tampered = False
        self.is_certain = True
        self.is_blind = False
        self.why_blind = ""
        self.goes_other_way_for_one_word = False
        self._find_module = find_module
        self._frames: list[Frame] = []
        self._has_ended = False
        self._is_out_of_order = False
        self._steps = 0
        self._most_steps = most_steps
        self._inside: list[Function] = []

    def module(self, tree: ast.Module, frame: Frame) -> None:
        """Follow a module from top to bottom."""
        certain = self.is_certain
        with self.inside(frame):
            ending = Statements(self, frame).block(tree.body)
        if ending in ("exit", "raise"):
            self.ends()
        self.is_certain = certain and not self._has_ended

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """Follow code in a frame."""
        self._frames.append(frame)
        yield
        self._frames.pop()

    def imported_module(self, name: str) -> Module | None:
        """Import a module of the source; return None for any other."""
        self.imported.add(name)
        return self._find_module(self, name)

    def taken_from(self, module: Module, name: str) -> Value:
        """Return an attribute of a module; any later value too, if the time of the access is unknown."""
        if self._is_out_of_order:
            module.escape_by([name])
        return module.attribute(name)

    def imported_by_others(self, node: ast.Import | ast.ImportFrom, uses: Uses, frame: Frame) -> None:
        """Record that code may import something at any time; ``frame`` is where it looks up names."""
        names = Frame(frame.source, frame.module)
        with self.out_of_order():
            import_names(self, names, node)
            for name, value in names.names.items():
                attributes = uses.get(name)
                if attributes is not None:
                    value.escape_by(attributes)
                elif not isinstance(value, Named) or value.name != name:  # otherwise it is known where it is used
                    value.escape()

    @contextmanager
    def out_of_order(self) -> Iterator[None]:
        """Follow code that may run at any time, or never."""
        certain, before = self.is_certain, self._is_out_of_order
        self.is_certain, self._is_out_of_order = False, True
        repeats, self.repeats = self.repeats, None
        yield
        self.repeats = repeats
        self.is_certain, self._is_out_of_order = certain and not self._has_ended, before

    def entered(self, function: Function, call: Call, first: Sequence[Value], *, is_taken: bool = False) -> Value:
        """Follow a call of a function of the script; return its known result. ``is_taken``: a generator runs, too."""
        function.was_called = True
        is_generator = self.codes.of(function.node).yields
        if is_generator and not is_taken and self.domain.follows_classes:
            return Generated(function, call, first)
        is_opaque = (is_generator and not is_taken) or not function.frame.module.is_entered
        if is_opaque or function in self._inside or len(self._inside) >= DEEPEST:
            for value in (function, *first):
                value.escape()
            return call.unknown_result()
        frame = Frame(function.frame.source, function.frame)
        bind(function, call, first, frame)
        certain = self.is_certain
        self._frames.append(frame)
        self._inside.append(function)
        ending = Statements(self, frame).block(function.node.body)
        self._inside.pop()
        self._frames.pop()
        self.domain.left(frame, (*first, *call.arguments, *call.keywords.values()))
        if ending in ("exit", "raise"):
            self.ends()
        self.is_certain = certain and not self._has_ended
        if ending is None and not frame.returned:
            return Known(None)
        # A function that may reach its end returns None there.
        if ending == "leave" and frame.returned and all(value is frame.returned[0] for value in frame.returned):
            return frame.returned[0]
        return self.domain.either(frame.returned)

    def called(self, name: str, call: Call) -> Value:
        """Return the result of a call of something of another module."""
        name = name.removeprefix("builtins.")
        call.is_named = True
        known = self.recorder.called(name, call)
        if known is not None:
            return known
        given = (*call.arguments, *call.keywords.values())
        if name in TAKERS and call.arguments:
            call.arguments[0].take()
        if self.domain.follows_classes and (name == "functools.wraps" or (name in TRANSPARENT and not call.arguments)):
            return Unchanging()
        if changed_by(name):
            self.handed_on(changed_by(name))
        elif may_end(name):
            self.ends()
        elif name == "super" and (above := self._above(call)) is not None:
            return above
        elif name in LOOKERS:
            return _looked_at(name, call)
        elif copies(name):
            for value in given:
                value.look_through()
            return _copied(name, given) if call.is_whole and not call.keywords else UNKNOWN
        elif name == "getattr" and len(given) in (2, 3) and (attribute := text(given[1])) is not None:
            return self.attribute_of(given[0], attribute)
        elif name in ("setattr", "delattr") and given:
            attribute = (text(given[1]) if len(given) > 1 else None) or ""
            if isinstance(given[0], Instance) and not attribute:
                given[0].change()
            elif isinstance(given[0], Class | Instance | Module):
                given[0].set_attribute(attribute, given[-1])
            elif isinstance(given[0], Named):
                self.tampered_with(f"{given[0].name}.{attribute}")
        elif patches(name):
            self.tampered_with("sys.argv")
            self.tampered_with("os.environ")
        elif name == "vars" and given and isinstance(given[0], Instance):
            given[0].change()
        elif sees_all(name) and not (name == "vars" and given) and not has_names_of_its_own(call.node):
            self.sees(name, self._frames[-1])
        return call.unknown_result()

    def fails_with(self, function: Function, word: str) -> bool:
        """Return whether a function certainly raises an exception for a word; it is followed apart from the program."""
        node = ast.copy_location(ast.Call(func=ast.Constant(value=None), args=[], keywords=[]), function.node)
        apart = ProgramInterpreter(type(self.recorder)(), lambda *_: None, most_steps=_MOST_STEPS_APART)
        frame = Frame(function.frame.source, function.frame)
        bind(function, Call(apart, node, (Known(word),), {}, True), (), frame)
        apart._frames.append(frame)
        try:
            ending = Statements(apart, frame).block(function.node.body)
        except (TooManySteps, RecursionError):
            return False
        return ending == "raise" and apart.is_certain and not frame.returned and not self.codes.of(function.node).yields

    def _above(self, call: Call) -> Value | None:
        """Return ``super()`` of the current method; None if its instance is unknown."""
        function = self._inside[-1] if self._inside else None
        if function is None or len(call.arguments) not in (0, 2):
            return None
        given = function.node.args
        own = next((parameter.arg for parameter in (*given.posonlyargs, *given.args)), "")
        instance = call.arguments[1] if call.arguments else self._frames[-1].names.get(own)
        if not isinstance(instance, Instance | Class):
            return None
        own_kind = instance if isinstance(instance, Class) else instance.kind
        kind = call.arguments[0] if call.arguments else own_kind.that_defines(function)
        return Super(instance, kind if isinstance(kind, Class) else None)

    def attribute_of(self, owner: Value, name: str) -> Value:
        """Return an attribute. Code that has a method which may end the script may call it, here or anywhere."""
        if name == "__dict__" and isinstance(owner, Named):
            owner.escape()
        if name in FRAMES:
            self.handed_on("globals", name)
        known = self.recorder.attribute(owner, name)
        if known is not None:
            return known
        found = self.taken_from(owner, name) if isinstance(owner, Module) else owner.attribute(name)
        if name in ENDING_METHODS and not isinstance(found, Named) and not owner.follows(name):
            self.ends()
        return found

    def sees(self, name: str, frame: Frame) -> None:
        """Record that code in a frame accesses names indirectly: all, or those of its own module."""
        if name in STACKS and not any(attribute in frame.source.text for attribute in FRAMES):
            return
        if name in SEE_OWN and frame.module is not self._frames[0]:
            frame.module.open()
        else:
            self.handed_on(name)

    def handed_on(self, name: str, written: str = "") -> None:
        """Record that other code has something of another module, with which it may change what readers rely on.

        ``written``: what the program writes for it.
        """
        if sees_all(name):
            self.is_blind = True
            self.why_blind = self.why_blind or f"`{written or name}` may get at any name of the script"
        if may_end(name):
            self.ends()
        name = changed_by(name) or name
        if name in ("sys", "sys.argv"):
            self.is_tampered = True
        if name in ("os", "posix", *ENVIRONMENTS) or name in RUN_CODE:
            self.changed_variables.add("*")

    def gives_up(self, reason: str) -> None:
        """Record a module that is not followed: it may do anything that a script may do."""
        self.why_blind = self.why_blind or reason
        self.is_blind = True
        self.changed_variables.add("*")
        self.ends()

    def tampered_with(self, name: str) -> None:
        """Record that a script changes what readers rely on."""
        if name.startswith(("sys.argv", "sys.modules", "argparse.")):
            self.is_tampered = True
        elif name in ENVIRONMENTS or name.startswith("os.environ."):
            self.changed_variables.add("*")

    def looked_up(self, name: str, key: Value, place: Span) -> Value:
        """Return the value under a key of something of another module."""
        if sees_all(name):
            self.handed_on(name)
        found = self.recorder.looked_up(self, name, key, place)
        if found is None:
            # A word of the command line, or a variable, is text: nothing changes the list through it.
            found = UNKNOWN if name in LISTS else Items((Named(name, self), key))
        return found

    def may_have_set(self, variable: str) -> bool:
        """Return whether the script itself may set an environment variable."""
        return bool({"*", variable} & self.changed_variables)

    def step(self, count: int = 1) -> None:
        self._steps += count
        if self._steps > self._most_steps:
            raise TooManySteps

    def ends(self) -> None:
        """Record that the script may have ended here."""
        self._has_ended = True
        self.is_certain = False
        self.repeats = None

    @contextmanager
    def perhaps(self, frame: Frame) -> Iterator[None]:
        """Follow code that may or may not run."""
        before, self.is_certain = self.is_certain, False
        repeats, self.repeats = self.repeats, None
        yield
        self.is_certain = before and not frame.has_left and not self._has_ended
        self.repeats = None if frame.has_left or self._has_ended else repeats

    def place(self, node: ast.expr | ast.stmt) -> Span:
        """Return the position of a node of the module that is being followed."""
        return place_of(node, self._frames[-1])


def _looked_at(name: str, call: Call) -> Value:
    """Return what a builtin that keeps no argument makes of constants."""
    given = call.arguments
    if not call.is_whole or call.keywords:
        return UNKNOWN
    if name == "isinstance" and len(given) == 2:
        kinds = [kind.name if isinstance(kind, Named) else "" for kind in items(given[1]) or (given[1],)]
        is_one = is_instance(given[0].constant(), kinds)
        return UNKNOWN if is_one is None else Known(is_one)
    found = looked_at(name, [value.constant() for value in given])
    return Known(found) if isinstance(found, bool | int | float) else UNKNOWN


def _copied(name: str, given: Sequence[Value]) -> Value:
    """Return a list, or what else is made of known items; the order of a sorted one is unknown."""
    found = items(given[0]) if name in ("frozenset", "list", "set", "sorted", "tuple") and len(given) == 1 else None
    return UNKNOWN if found is None else Items(found, is_fixed=name in ("frozenset", "tuple"))


def place_of(node: ast.expr | ast.stmt | ast.arg, frame: Frame) -> Span:
    """Return the position of a node, columns in code points."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(
        frame.source.name,
        node.lineno,
        _column(frame, node.lineno, node.col_offset),
        end_line,
        _column(frame, end_line, end),
    )


def _column(frame: Frame, number: int, offset: int) -> int:
    """Return the column of a byte offset in a UTF-8 line, counted from 1; the frame of a notebook has no lines."""
    line = frame.lines[number - 1] if number <= len(frame.lines) else ""
    return 1 + (offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace")))
