"""What a program calls in place of a class of the SDK or a method of boto3: subclasses, `partial`, and threads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smspec.importer.sdk.values import SdkInstance, SdkItems, SdkPlace, SdkUnknown, Value, applied, lifted, lowered
from smspec.script.follow import values as followed
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.values import UNKNOWN, Bound, Named

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

LAMBDA = "<lambda>"
NEW = "()"
"""The method that the call of a class is."""

START = "__init__"
_HARMLESS = frozenset((START, "create_model", "_prepare_init_params_from_job_description", "__repr__", "__str__"))
_SUBMITS = {"submit": 0, "apply_async": 0, "apply": 0, "run_in_executor": 1, "to_thread": 0, "call_soon": 0}
"""Method that runs a function, perhaps elsewhere → the position of the function."""

_MAPS = frozenset(("map", "starmap", "imap", "imap_unordered", "map_async"))
_THREADS = ("threading.Thread", "threading.Timer", "multiprocessing.Process")


class SdkClass(followed.Value):
    """A class of the program with a base of the SDK, ``kind``; ``above``: its base, if that is of the program, too."""

    may_be_none = False

    def __init__(self, node: ast.ClassDef, base: followed.Value, methods: dict[str, Function]) -> None:
        self.name = node.name
        self.above = base if isinstance(base, SdkClass) else None
        self.kind: str = base.kind if isinstance(base, SdkClass) else base.name if isinstance(base, Named) else ""
        self.methods = methods

    def truth(self) -> bool:
        return True

    def call(self, call: Call) -> followed.Value:
        return call.run.recorder.method_called(self, NEW, call) or UNKNOWN

    def found(self, name: str) -> tuple[SdkClass, Function] | None:
        """Return the class that defines a method, and the method; None if only the SDK does."""
        if name in self.methods:
            return self, self.methods[name]
        return self.above.found(name) if self.above is not None else None

    def overridden(self) -> dict[str, int]:
        """Return the methods that replace those of the SDK, with their lines."""
        found = self.above.overridden() if self.above is not None else {}
        own = {name: method.node.lineno for name, method in self.methods.items() if name not in _HARMLESS}
        return {**found, **own}


class SubclassInstance(SdkInstance):
    """An object of such a class. ``own`` has its attributes that are no arguments of the SDK's class."""

    def __init__(self, made_by: SdkClass, place: SdkPlace) -> None:
        super().__init__(made_by.kind, [], {}, place)
        self.made_by = made_by
        self.own: dict[str, Value] = {}

    def label(self) -> object:
        return self.made_by.name, super().label()

    def attribute(self, name: str) -> followed.Value:
        return lifted(self.own[name]) if name in self.own else super().attribute(name)

    def set_attribute(self, name: str, value: followed.Value) -> None:
        (self.arguments if name in self.arguments else self.own)[name] = lowered(value, name)

    def built(self, call: SdkInstance) -> None:
        """Take the arguments that the class of the SDK is given."""
        self.positional, self.arguments = call.positional, call.arguments
        self.is_known &= call.is_known


class SdkSuper(followed.Value):
    """``super()`` in a method of such a class."""

    def __init__(self, instance: SubclassInstance, above: SdkClass | None) -> None:
        self.instance = instance
        self.above = above


class Partial(followed.Value):
    """``functools.partial(…)``, and what a call of it adds."""

    may_be_none = False

    def __init__(self, function: followed.Value, call: Call) -> None:
        self._function = function
        self._given = call

    def escape(self) -> None:
        for value in (self._function, *self._given.arguments, *self._given.keywords.values()):
            value.escape()

    def truth(self) -> bool:
        return True

    def call(self, call: Call) -> followed.Value:
        given = self._given
        keywords = {**given.keywords, **call.keywords}
        is_whole = given.is_whole and call.is_whole
        return applied(
            self._function, Call(call.run, call.node, (*given.arguments[1:], *call.arguments), keywords, is_whole)
        )


def is_callable(value: followed.Value | None) -> bool:
    """Return whether calling a value is followed."""
    return isinstance(value, Function | SdkClass | Partial) or (
        isinstance(value, SdkUnknown) and value.function is not None
    )


def as_function(node: ast.Lambda) -> ast.FunctionDef:
    """Return the definition of a function that does what a lambda does."""
    body: list[ast.stmt] = [ast.copy_location(ast.Return(value=node.body), node.body)]
    made = ast.FunctionDef(name=LAMBDA, args=node.args, body=body, decorator_list=[], returns=None)
    return ast.copy_location(made, node)


def handed_over(name: str, call: Call, run: ProgramInterpreter) -> bool:
    """Follow a function that is given to a thread, a pool, or `map`; return whether the call does that."""
    if name in _THREADS:
        function = call.argument(1, "target" if name != _THREADS[1] else "function")
        if not is_callable(function) or function is None:
            return False
        given = call.keywords.get("args")
        values = (lifted(given).items() or ()) if given is not None else ()
        named = call.keywords.get("kwargs")
        entries = (named.entries() if named is not None else {}) or {}
        is_whole = (given is None or lifted(given).items() is not None) and (named is None or bool(entries))
        applied(function, Call(run, call.node, tuple(values), entries, is_whole))
        return True
    last = name.rpartition(".")[2]
    at = _SUBMITS.get(last, 0)
    if len(call.arguments) <= at or not is_callable(call.arguments[at]):
        return False
    function, rest = call.arguments[at], call.arguments[at + 1 :]
    if last in _MAPS:
        listed = rest[0] if len(rest) == 1 else UNKNOWN
        items = listed.items() if isinstance(listed, SdkItems) else None
        for number, item in enumerate(((UNKNOWN,) if items is None else items)[:200]):
            run.rounds.append(number)
            applied(function, Call(run, call.node, (item,), {}, True))
            run.rounds.pop()
        return True
    if last in _SUBMITS:
        applied(function, Call(run, call.node, rest, call.keywords, call.is_whole))
        return True
    return False


def runs_other_code(name: str, call: Call) -> bool:
    """Return whether a method of `get_ipython()` runs code that may set names of the program."""
    text = call.arguments[0].constant() if call.arguments else ...
    if name not in ("run_line_magic", "magic", "run_cell") or not isinstance(text, str):
        return False
    return name == "run_cell" or text.lstrip("%").split(" ")[0] in ("run", "load", "rerun", "store")


def starts_jobs(value: followed.Value, names: frozenset[str]) -> bool:
    """Return whether a value is a method with one of these names, which code that has it may call."""
    function = value.function if isinstance(value, SdkUnknown) else value
    return isinstance(function, Bound) and function.name in names
