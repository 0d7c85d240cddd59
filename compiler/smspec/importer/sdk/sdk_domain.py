"""What stands for values that only a run has while a program that starts jobs is followed, and what branches leave.

Names are copied for branches, with the lists and mappings that they have, and say what is known after either.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.importer.sdk.callables import SdkClass, as_function, with_bases
from smspec.importer.sdk.choices import Cached, one_of
from smspec.importer.sdk.conversions import copied
from smspec.importer.sdk.loops import doubt, set_before_use
from smspec.importer.sdk.notebook import RUN_ELSEWHERE
from smspec.importer.sdk.program_classes import constants_of, is_followed, plain_class
from smspec.importer.sdk.sdk_facts import SDK, is_builtin
from smspec.importer.sdk.values import (
    LONGEST,
    Collection,
    Entries,
    SdkInstance,
    SdkItems,
    SdkText,
    SdkUnknown,
    Value,
    forget,
    is_constant,
    joined,
    lifted,
    lowered,
    text_of,
)
from smspec.script.follow import values as followed
from smspec.script.follow.domain import Definition, Domain, Names
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Function, defaults_of
from smspec.script.follow.values import UNKNOWN, Bound, Known, Named

if TYPE_CHECKING:
    from smspec.script.follow.facts import Part
    from smspec.script.follow.frames import Call, Frame
    from smspec.script.follow.interpreter import ProgramInterpreter
    from smspec.source import Span

MOST_PASSES = 200
"""The maximum number of items for which each pass of a loop is followed."""

_DEEPEST = 20
_SEEN = frozenset(("exec", "super", "globals", "locals", "setattr", "delattr", "object", RUN_ELSEWHERE))
"""Functions that the importer follows, with that of a notebook's `%run`."""

_STARRED = frozenset((SDK, f"{SDK}_core", "boto3", *sys.stdlib_module_names))
"""Packages that have no names such as `role`."""

_ENDINGS = (ast.Raise, ast.Return, ast.Break, ast.Continue)


class SdkDomain(Domain):
    """The values of a program that starts jobs; ``step`` counts what copying them costs.

    ``stored``: the names of attributes that the program sets, or whose collections it changes.
    """

    follows_classes = False
    follows_parts = True
    star_replaces = False

    def __init__(self, step: Callable[[int], None]) -> None:
        self._step = step
        self._outside: dict[str, SdkUnknown] = {}
        self._starred = ""
        self._others: dict[str, SdkClass] = {}
        self.stored: set[str] = set()

    def named(self, value: followed.Value, name: str) -> followed.Value:
        return lifted(lowered(value, name))

    def given(self, value: followed.Value, name: str = "") -> followed.Value:
        """Return a value that is an argument: something of a module is unknown, except what belongs to the SDK."""
        if isinstance(value, Named) and not value.name.startswith(f"{SDK}."):
            return self._outside.setdefault(value.name, SdkUnknown(value.name.rpartition(".")[2], function=value))
        return SdkUnknown(value.name, function=value) if isinstance(value, Bound) else self.named(value, name)

    def decorated(self, value: followed.Value, name: str) -> followed.Value:
        return Cached(value) if name.startswith("functools.") and isinstance(value, Function) else value

    def starred(self, source: str, frame: Frame) -> None:
        if source.startswith(f"{SDK}."):
            self._starred = source
        if source.partition(".")[0] not in _STARRED:
            doubt_names(frame)

    def unbound(self, name: str, run: ProgramInterpreter) -> followed.Value:
        if self._starred and name[:1].isupper():
            return Named(f"{self._starred}.{name}", run)
        return Named(name, run) if is_builtin(name) or name in _SEEN else SdkUnknown(name)

    def items(
        self, values: Sequence[followed.Value], *, is_fixed: bool = False, is_whole: bool = True
    ) -> followed.Value:
        return SdkItems(list(map(lowered, values)), is_fixed=is_fixed, is_known=is_whole)

    def mapping(self, entries: Sequence[tuple[followed.Value | None, followed.Value]]) -> followed.Value:
        found = Entries({})
        for key, value in entries:
            name = ... if key is None else key.constant()
            if key is None:
                found.update(value, {})
            elif is_constant(name):
                found.values[name] = lowered(self.given(value, str(name)))
            else:
                found.is_known = False
        return found

    def collected(
        self, values: Sequence[followed.Value] | Mapping[str, followed.Value], is_whole: bool
    ) -> followed.Value:
        if not isinstance(values, Mapping):
            return self.items(values, is_fixed=True, is_whole=is_whole)
        known = {name: lowered(value, name) for name, value in values.items() if name != "**"}
        found = Entries({}, is_known=is_whole)
        found.values.update(known)
        return found

    def text(self, parts: Sequence[Part] | None) -> followed.Value:
        if parts is None:
            return SdkUnknown(is_text=True)
        return lifted(joined(*(part if isinstance(part, str) else text_of(lowered(part)) for part in parts)))

    def combined(self, kind: type[ast.operator], one: followed.Value, two: followed.Value) -> followed.Value | None:
        first, second = lowered(one), lowered(two)
        texts = [isinstance(value, str | SdkText | SdkUnknown) for value in (first, second)]
        if kind is ast.Add and all(texts):
            is_open = isinstance(first, SdkUnknown) and isinstance(second, SdkUnknown)
            return UNKNOWN if is_open else lifted(joined(first, second))
        if kind is ast.Add and isinstance(first, SdkItems) and isinstance(second, SdkItems):
            both = [*first.values, *second.values]
            if len(both) > LONGEST:
                return UNKNOWN
            return SdkItems(both, is_fixed=first.is_fixed, is_known=first.is_known and second.is_known)
        if kind is ast.Add and (isinstance(first, SdkItems) or isinstance(second, SdkItems)):
            listed = first if isinstance(first, SdkItems) else second
            other = second if listed is first else first
            if isinstance(listed, SdkItems) and not is_constant(other):
                return SdkItems(list(listed.values), is_fixed=listed.is_fixed, is_known=False)
        if kind is ast.BitOr and isinstance(first, Entries) and isinstance(second, Entries):
            return Entries({**first.values, **second.values}, is_known=first.is_known and second.is_known)
        if kind is ast.BitOr and (isinstance(first, Entries) or isinstance(second, Entries)):
            known = first if isinstance(first, Entries) else second
            return Entries(dict(known.values) if isinstance(known, Entries) else {}, is_known=False)
        return UNKNOWN if kind is ast.BitOr else None

    def either(self, values: Sequence[followed.Value]) -> followed.Value:
        if len(values) == 2 and same(values[0], values[1]):
            return values[0]
        for value in values:
            forget(value)
        is_text = bool(values) and all(isinstance(lowered(value), str | SdkText) for value in values)
        return SdkUnknown(is_text=True) if is_text else UNKNOWN

    def passes(self, iterated: followed.Value) -> Sequence[followed.Value] | None:
        values: Sequence[followed.Value] | None = iterated.items() if isinstance(iterated, SdkItems) else None
        if isinstance(iterated, SdkItems) and iterated.is_once:
            iterated.is_known = False
        if isinstance(iterated, Entries) and iterated.is_known:
            values = [Known(key) for key in iterated.values if isinstance(key, bool | int | float | str | None)]
        return values if values is not None and len(values) <= MOST_PASSES else None

    def element(self, iterated: followed.Value) -> followed.Value:
        return one_of(iterated) or UNKNOWN

    def apart(self, frame: Frame) -> Names:
        """Take in the collections of outer frames, so that what only one branch changes in them is unknown later."""
        outer = frame.outer
        while outer is not None:
            for name, value in outer.names.items():
                if isinstance(value, Collection):
                    is_outer = name in frame.globals or name in frame.nonlocals
                    frame.names.setdefault(f"{name} " if is_outer else name, value)
            outer = outer.outer
        return self.branch(frame.names)

    def branch(self, names: Names) -> Names:
        memo: dict[int, Collection] = {}
        found = {name: lifted(copied(value, memo)) for name, value in names.items()}
        self._step(10 + len(memo) + len(found))
        return found

    def order(self, bodies: Sequence[Sequence[ast.stmt]]) -> Sequence[int]:
        """Follow those that end early last, so that the others change the collections that the rest of the code has."""
        return sorted(
            range(len(bodies)), key=lambda index: any(isinstance(last, _ENDINGS) for last in bodies[index][-1:])
        )

    def left(self, frame: Frame, given: Sequence[followed.Value]) -> None:
        """Treat as unknown what the function changes in collections of others after it may have returned."""
        done: set[tuple[int, int]] = set()
        for names in frame.departures:
            self._step(len(names))
            for name, value in names.items():
                if isinstance(frame.names.get(name), Collection):
                    _either_of(frame.names[name], value, done, name)
        if frame.is_apart:
            outer = [frame.outer.get(name.strip()) for name in frame.names] if frame.outer is not None else []
            for each in (*given, *filter(None, outer)):
                forget(each)

    def joined(self, one: Names, two: Names) -> Names:
        return self._merged(one, two, keeps_new=False)

    def interrupted(self, before: Names, _after: Names) -> Names:
        return before

    def handled(self, after: Names, others: Names) -> Names:
        """Keep what only the `try` defines, because nothing else can define it."""
        return self._merged(after, others, keeps_new=True)

    def _merged(self, names: Names, others: Names, *, keeps_new: bool) -> Names:
        self._step(len(others))
        done: set[tuple[int, int]] = set()
        for name in list(dict.fromkeys((*names, *others))):
            if name in names and name in others:
                names[name] = lifted(_either_of(names[name], others[name], done, name))
            elif name in others or not keeps_new:
                names[name] = SdkUnknown(name)
        return names

    def reached(self, run: ProgramInterpreter, node: ast.AST, frame: Frame) -> None:
        """Treat as unknown what code may assign, and the collections that it may change."""
        doubt(run, node, frame, frozenset(), self._step)

    def defined(self, run: ProgramInterpreter, node: Definition, frame: Frame) -> followed.Value:
        """Return a lambda as a function, and a subclass of a class of the SDK."""
        value = Evaluation(run, frame).value
        if isinstance(node, ast.Lambda):
            function = Function(run, as_function(node), frame.of_functions, defaults_of(node.args, value))
            run.recorder.defined(function)
            return function
        self.reached(run, node, frame)
        if not isinstance(node, ast.ClassDef):
            return UNKNOWN
        bases = list(map(value, node.bases))
        made = with_bases(node, bases, self._others) or plain_class(node, bases)
        made.methods = {
            part.name: Function(run, part, frame.of_functions, defaults_of(part.args, value))
            for part in node.body
            if isinstance(part, ast.FunctionDef)
        }
        made.run, made.frame = run, frame
        made.constants = constants_of(run, node, frame)
        for name, constant in made.constants.items():
            if {name, f"{name}="} & self.stored and isinstance(constant, Collection):
                forget(constant)
        if not made.kind:
            self._others[node.name] = made
        return made if made.kind or is_followed(made) else UNKNOWN

    def doubted(self, run: ProgramInterpreter, node: ast.AST, frame: Frame) -> None:
        doubt(run, node, frame, set_before_use(node, frame, self._step), self._step)


class NamesOfProgram(followed.Value):
    """``globals()``; ``doubt`` is called where code may set names that are not written here."""

    may_be_none = False

    def __init__(self, frame: Frame, doubt: Callable[[], None]) -> None:
        self._frame = frame
        self._doubt = doubt

    def escape(self) -> None:
        self._doubt()

    def item(self, key: followed.Value, _place: Span) -> followed.Value:
        name = key.constant()
        return (self._frame.get(name) if isinstance(name, str) else None) or UNKNOWN

    def set_item(self, key: followed.Value, value: followed.Value) -> None:
        name = key.constant()
        if isinstance(name, str):
            self._frame.set(name, lifted(lowered(value, name)))
        else:
            self._doubt()

    def method(self, name: str, call: Call) -> followed.Value:
        given = call.arguments[0] if call.arguments else Entries({})
        if name == "update" and call.is_whole and isinstance(given, Entries) and given.is_known:
            for key, value in (*given.values.items(), *call.keywords.items()):
                self._frame.set(str(key), lifted(value))
        elif name not in ("get", "keys", "items", "values", "copy"):
            self._doubt()
        return UNKNOWN


def doubt_names(frame: Frame) -> None:
    """Treat values as perhaps replaced by code that sets names which are not written here; not the SDK's objects."""
    for name, value in frame.names.items():
        if isinstance(value, SdkItems | Entries):
            value.is_known = False
        elif isinstance(value, Known | SdkText):
            frame.names[name] = SdkUnknown(name, is_text=isinstance(lowered(value), str | SdkText))


def same(one: Value, two: Value, depth: int = 0) -> bool:
    """Return whether two values are certainly equal."""
    if one is two:
        return True
    if type(one) is not type(two) or depth > _DEEPEST:
        return False
    if isinstance(one, Known) and isinstance(two, Known):
        return same(one.value, two.value)
    if isinstance(one, Named) and isinstance(two, Named):
        return one.name == two.name
    if not (isinstance(one, Collection) and isinstance(two, Collection)):
        return isinstance(one, bool | int | float | str | SdkText) and one == two
    mine, others = one.members(), two.members()
    is_alike = one.is_known and two.is_known and _is_alike(one, two) and list(mine) == list(others)
    return is_alike and all(same(mine[key], others[key], depth + 1) for key in mine)


def alike(one: Value, two: Value, depth: int = 0) -> bool:
    """Return whether all that is known of two values is equal."""
    are_open = [isinstance(value, SdkUnknown | Bound | Named) for value in (one, two)]
    if one is two or any(are_open):
        return one is two or all(are_open)
    if isinstance(one, SdkText) and isinstance(two, SdkText):
        return [part for part in one.parts if isinstance(part, str)] == [p for p in two.parts if isinstance(p, str)]
    if not (isinstance(one, Collection) and isinstance(two, Collection)):
        return type(one) is type(two) and one == two
    if not _is_alike(one, two) or depth > _DEEPEST:
        return depth > _DEEPEST
    mine, others = one.members(), two.members()
    return mine.keys() == others.keys() and all(alike(mine[key], others[key], depth + 1) for key in mine)


def _either_of(one: Value, two: Value, done: set[tuple[int, int]], name: str = "") -> Value:
    """Return what is known of a value after two branches. A collection becomes what both have, in place."""
    if one is two or (not isinstance(one, Collection) and same(one, two)):
        return one
    if isinstance(one, SdkUnknown) and isinstance(two, SdkUnknown):
        return one if one.is_text <= two.is_text else two
    if not (isinstance(one, Collection) and isinstance(two, Collection) and _is_alike(one, two)):
        forget(one)
        return SdkUnknown(name)
    if (id(one), id(two)) in done:
        return one
    done.add((id(one), id(two)))
    mine, others = one.members(), two.members()
    keys = dict.fromkeys((*mine, *others)) if isinstance(one, SdkInstance) else [key for key in mine if key in others]
    one.is_known = one.is_known and two.is_known and (isinstance(one, SdkInstance) or list(mine) == list(others))
    found: dict[object, Value] = {}
    for key in keys:
        word = "" if isinstance(one, SdkItems) else str(key)
        is_in_both = key in mine and key in others
        found[key] = _either_of(mine[key], others[key], done, word) if is_in_both else SdkUnknown(word)
    one.fill(found)
    return one


def _is_alike(one: Collection, two: Collection) -> bool:
    return type(one) is type(two) and one.label() == two.label()
