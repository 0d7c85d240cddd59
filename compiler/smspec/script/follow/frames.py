"""The names that are known at one place of a program, and the functions and calls that make new places.

Other code may run a function that escapes at any time, or never: then everything that its code names is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from smspec.script.follow.facts import ENDING_METHODS, ENDING_WORDS, EXITS, FRAMES, LISTS, sees_all
from smspec.script.follow.values import UNKNOWN, Named, Unknown, Value, items, text
from smspec.source import SourceText

if TYPE_CHECKING:
    import ast

    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.source import Span

_HARMLESS = ("__name__", "__doc__", "__qualname__", "__module__", "__annotations__")
"""Attributes of a function by which code cannot get at the names of its module."""

Repeats = tuple[int | None, str]
"""How often a loop runs: a number, or the name of an option."""

NODES_A_STEP = 8
"""Nothing in them is followed, so a step is cheap."""


class Frame:
    """The names of a module or of a function call; ``outer`` is the enclosing frame.

    ``has_left``: the function may have returned. ``departures``: its names where it has.
    ``is_apart``: its values may be copies of those at its start. ``is_open``: other code has all its names, and may set
    them. For a module, ``package`` is where relative imports start; ``is_entered``: calls of its functions are
    followed.
    """

    def __init__(self, source: SourceText, outer: Frame | None = None) -> None:
        self.source = source
        self.outer = outer
        self.lines: list[str] = outer.lines if outer else source.text.split("\n")
        self.has_left = False
        self.is_class = False
        self.is_comprehension = False
        self.is_open = False
        self.is_apart = False
        self.departures: list[dict[str, Value]] = []
        self.is_entered = True
        self.package = ""
        self._leaked: set[str] = set()
        self._forgotten: set[str] = set()
        self.names: dict[str, Value] = {}
        self.globals: frozenset[str] = frozenset()
        self.nonlocals: frozenset[str] = frozenset()
        self.returned: list[Value] = []

    @property
    def module(self) -> Frame:
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame

    def get(self, name: str) -> Value | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame._forgotten:
                return UNKNOWN
            if name in frame.names:
                value = frame.names[name]
                return value if isinstance(value, Named) or not frame.is_open else UNKNOWN
            frame = frame.outer
        return None

    def open(self) -> None:
        """Let all names escape, with any later values, and allow others to set them: all except other modules."""
        if not self.is_open:
            self.is_open = True
            for value in tuple(self.names.values()):
                if not isinstance(value, Named):
                    value.escape()

    def leak(self, name: str, attributes: frozenset[str] | None = None) -> None:
        """Let the value of a name escape, and any later value; for a module, only ``attributes``."""
        frame: Frame | None = self
        while frame is not None:
            frame._leaked.add(name)
            if name in frame.names:
                if attributes is None:
                    frame.names[name].escape()
                else:
                    frame.names[name].escape_by(attributes)
                return
            frame = frame.outer

    def forget_for_good(self, name: str) -> None:
        """Treat a name as permanently unknown, because others may set it at any time."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names or frame.outer is None:
                frame._forgotten.add(name)
            frame = frame.outer

    @property
    def of_functions(self) -> Frame:
        """The frame in which a function defined here looks up names: not that of a class."""
        return self.outer.of_functions if self.is_class and self.outer is not None else self

    def forget_outer(self, name: str) -> None:
        """Treat a name of an enclosing function as unknown, because of ``nonlocal``."""
        frame = self.outer
        while frame is not None:
            if name in frame.names:
                frame.names[name].escape()
                frame.names[name] = UNKNOWN
            frame = frame.outer
        self.nonlocals |= {name}

    def forget_values(self) -> None:
        """Treat all names of this frame as unknown, except other modules and builtins."""
        for name, value in self.names.items():
            if not isinstance(value, Named) and not name.startswith("__"):
                self.names[name] = UNKNOWN

    def learn(self, name: str, value: Value) -> None:
        """Give a name another value, where it has one."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                frame.names[name] = value
                return
            frame = frame.outer

    def set(self, name: str, value: Value) -> None:
        frame = self.module if name in self.globals else self
        if name in frame._leaked or name in frame.nonlocals or (frame.is_open and not isinstance(value, Named)):
            value.escape()
        frame.names[name] = value


def joined(one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
    """Return what is known of names after either of two branches.

    A value that a name may have escapes, because later uses under that name are not tracked.
    """
    names: dict[str, Value] = {}
    for name in (*one, *sorted(two.keys() - one.keys())):
        first, second = one.get(name, UNKNOWN), two.get(name, UNKNOWN)
        names[name] = first if first is second else UNKNOWN
        if first is not second:
            first.escape()
            second.escape()
    return names


def leak(run: ProgramInterpreter, node: ast.AST, frame: Frame) -> None:
    """Treat everything that the code of ``node`` names as unknown; ``frame`` is where it looks up names."""
    code = run.codes.of(node)
    run.step(1 + code.size // NODES_A_STEP)
    if code.writes:
        run.recorder.may_write()
    for name, attributes in code.free.items():
        frame.leak(name, attributes)
    for imported, uses in code.imports:
        run.imported_by_others(imported, uses, frame)
    for name in code.shared:
        frame.forget_for_good(name)
    reached = {full_name(frame, name) for name in code.names}
    for name in sorted(filter(sees_all, reached)):
        run.sees(name, frame)
    for attribute in sorted(FRAMES & code.attributes)[:1]:
        run.handed_on("globals", attribute)
    if (
        ENDING_METHODS & code.attributes
        or reached & EXITS
        or any(full_name(frame, name) == "SystemExit" for name in code.raised)
    ):
        run.ends()
    for name in code.changed:
        if (full := full_name(frame, name)) in LISTS:
            run.handed_on(full)


def full_name(frame: Frame, dotted: str) -> str:
    """Return the full name of something of another module, or of a builtin; empty for everything else."""
    root, dot, rest = dotted.partition(".")
    found = frame.get(root)
    if isinstance(found, Named):
        return found.name + dot + rest
    return dotted if found is None else ""


class Call:
    """``arguments`` by position, ``keywords`` by name; ``is_whole``: no ``*`` or ``**`` hides more of them.

    ``is_named``: it calls something of another module.
    """

    def __init__(
        self,
        run: ProgramInterpreter,
        node: ast.Call,
        arguments: tuple[Value, ...],
        keywords: dict[str, Value],
        is_whole: bool,
    ) -> None:
        self.run = run
        self.node = node
        self.arguments = arguments
        self.keywords = keywords
        self.is_whole = is_whole
        self.is_named = False

    @property
    def place(self) -> Span:
        return self.run.place(self.node)

    @property
    def is_certain(self) -> bool:
        """Whether the call happens in every run of the script."""
        return self.run.is_certain

    def argument(self, index: int, name: str) -> Value | None:
        """Return an argument that is passed by position or by name."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)

    def unknown_result(self) -> Value:
        """Let all arguments escape, and return an unknown value."""
        self.run.recorder.not_followed(self)
        for value in (*self.arguments, *self.keywords.values()):
            self.hands_over_words(value)
            value.escape()
        return UNKNOWN

    def hands_over_words(self, value: Value) -> None:
        """Record that the script may end where the called function uses a list as its command line."""
        words = items(value) or ()
        if any(word.startswith(ENDING_WORDS) for word in map(text, words) if word is not None):
            self.run.ends()


class Function(Value):
    """A function of the script. ``frame`` is where it looks up names, ``defaults`` are known by parameter."""

    may_be_none = False

    def __init__(
        self, run: ProgramInterpreter, node: ast.FunctionDef, frame: Frame, defaults: dict[str, Value]
    ) -> None:
        self.node = node
        self.frame = frame
        self.defaults = defaults
        self.was_called = False
        self._run = run
        self._has_escaped = False

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            for value in self.defaults.values():
                value.escape()
            self._run.domain.reached(self._run, self.node, self.frame)

    def truth(self) -> bool:
        return True

    def attribute(self, name: str) -> Value:
        if name.startswith("__") and name not in _HARMLESS:
            self._run.handed_on("globals", name)
        return super().attribute(name)

    def decorate(self, _: Value, call: Call) -> Value:
        return self.call(call)

    def decorated(self, name: str) -> Value | None:
        if not self._run.domain.follows_classes:
            return None
        if name in ("classmethod", "staticmethod"):
            return OfClass(self, is_bound=name == "classmethod")
        return self if name == "contextlib.contextmanager" else None

    def call(self, call: Call) -> Value:
        return call.run.entered(self, call, ())


class Unchanging(Unknown):
    """A decorator that does not change how a function runs."""

    def decorate(self, value: Value, _: Call) -> Value:
        return value


class OfClass(Value):
    """A function that a class has for itself. ``is_bound``: its first argument is the class."""

    may_be_none = False

    def __init__(self, function: Function, *, is_bound: bool) -> None:
        self.function = function
        self._is_bound = is_bound

    def escape(self) -> None:
        self.function.escape()

    def called_of(self, kind: Value, call: Call) -> Value:
        return call.run.entered(self.function, call, (kind,) if self._is_bound else ())


class Generated(Value):
    """The result of a call of a generator. Its code runs when something takes an item, or never."""

    may_be_none = False

    def __init__(self, function: Function, call: Call, first: Sequence[Value]) -> None:
        self.function = function
        self._call = call
        self._first = first
        self._has_escaped = False

    def take(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            self._call.run.entered(self.function, self._call, self._first, is_taken=True)
            self._let_go()

    def escape(self) -> None:
        if not self._has_escaped:
            self._has_escaped = True
            self._call.run.recorder.not_followed(self._call)
            self._let_go()

    def _let_go(self) -> None:
        """Treat what the code uses as unknown: it goes on at any time."""
        given = (*self._call.arguments, *self._call.keywords.values())
        for value in given:
            self._call.hands_over_words(value)
        for value in (self.function, *self._first, *given):
            value.escape()

    def attribute(self, _: str) -> Value:
        self.escape()
        return UNKNOWN


def defaults_of(parameters: ast.arguments, value: Callable[[ast.expr], Value]) -> dict[str, Value]:
    """Return the defaults of parameters; ``value`` evaluates them."""
    plain = [*parameters.posonlyargs, *parameters.args]
    defaults = dict(zip([p.arg for p in plain][::-1], [value(d) for d in parameters.defaults][::-1], strict=False))
    for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        if default is not None:
            defaults[parameter.arg] = value(default)
    return defaults


class Lambda(Unknown):
    """A function without a name: calls of it are not followed. ``frame`` is where it looks up names."""

    def __init__(self, node: ast.Lambda, frame: Frame) -> None:
        self.node = node
        self.frame = frame

    def attribute(self, _: str) -> Value:
        return UNKNOWN


def bind(function: Function, call: Call, first: Sequence[Value], frame: Frame) -> None:
    """Assign the passed values to parameters."""
    parameters = function.node.args
    plain = [*parameters.posonlyargs, *parameters.args]
    for parameter in (*plain, *parameters.kwonlyargs):
        default = function.defaults.get(parameter.arg, UNKNOWN)
        frame.set(parameter.arg, call.keywords.get(parameter.arg, default if call.is_whole else UNKNOWN))
    given = (*first, *call.arguments)
    for index, value in enumerate(given):
        if index < len(plain) and (call.is_whole or index < len(first)):
            frame.set(plain[index].arg, value)
        elif not call.is_whole:
            value.escape()
    names = {parameter.arg for parameter in (*plain, *parameters.kwonlyargs)}
    others = {name: value for name, value in call.keywords.items() if name not in names}
    domain = call.run.domain
    values = domain.collected(given[len(plain) :], call.is_whole)
    entries = domain.collected(others, call.is_whole)
    for rest, value in ((parameters.vararg, values), (parameters.kwarg, entries)):
        if rest is not None:
            frame.set(rest.arg, value)
