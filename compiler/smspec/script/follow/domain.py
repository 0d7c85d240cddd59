"""What stands for the values that only a run of a program has.

A script is followed for what is certain in every run. So all that is unknown is one value, `UNKNOWN`, without identity,
and a list is unknown once other code may have changed it: `Domain`. A program that starts jobs is followed for all that
its text says, and what is unknown becomes a variable of a spec. So there each unknown value has an identity, from where
it first has a name, and lists and mappings change as in the program: that domain is the importer's.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Union

from smspec.script.follow.facts import BUILTINS
from smspec.script.follow.frames import Lambda, joined, leak
from smspec.script.follow.values import UNKNOWN, Items, Keys, Named, Value, constant, known_text, text

if TYPE_CHECKING:
    from smspec.script.follow.facts import Part
    from smspec.script.follow.frames import Frame
    from smspec.script.follow.interpreter import ProgramInterpreter

LONGEST_SUM = 1_000
"""The maximum number of values in a concatenated list: one that is added to itself repeatedly grows without limit."""

Names = dict[str, Value]
Definition = Union[ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef]


class Domain:
    """The values of a script. ``follows_classes``; ``follows_parts``: what `+=` makes of an attribute or item is known.

    ``star_replaces``: an import of `*` may replace any name.
    """

    follows_classes = True
    follows_parts = False
    star_replaces = True

    def named(self, value: Value, _name: str) -> Value:
        """Return a value that gets a name."""
        return value

    def given(self, value: Value, _name: str = "") -> Value:
        """Return a value that is an argument."""
        return value

    def decorated(self, value: Value, _name: str) -> Value:
        """Return what a decorator makes of a function that it runs as it is."""
        return value

    def starred(self, _source: str, _frame: Frame) -> None:
        """See an import of all names of another module."""

    def unbound(self, name: str, run: ProgramInterpreter) -> Value:
        """Return the value of a name that the program does not set."""
        return Named(name, run) if name in BUILTINS else UNKNOWN

    def items(self, values: Sequence[Value], *, is_fixed: bool = False, is_whole: bool = True) -> Value:
        """Return a list or tuple; ``is_whole``: there are no others in it."""
        return Items(tuple(values), is_fixed=is_fixed) if is_whole else self.either(values)

    def mapping(self, entries: Sequence[tuple[Value | None, Value]]) -> Value:
        """Return a mapping of keys and values; the key is None before a mapping with ``**``."""
        self.either([part for entry in entries for part in entry if part is not None])
        keys = tuple(dict.fromkeys(key for key, _ in entries if key is not None))
        is_known = len(keys) == len(entries) <= LONGEST_SUM and all(constant(key) is not ... for key in keys)
        return Keys(keys) if is_known else UNKNOWN

    def collected(self, values: Sequence[Value] | Mapping[str, Value], _is_whole: bool) -> Value:
        """Return what a parameter with ``*`` or ``**`` collects, and whether these are all."""
        return self.either(list(values.values()) if isinstance(values, Mapping) else values)

    def text(self, parts: Sequence[Part] | None) -> Value:
        """Return a string that is made of others; None: they are not known."""
        kept = [part for part in parts or () if part != ""]
        whole = None if parts is None else _written(kept)
        if whole is not None:
            return known_text(whole)
        first = kept[0] if kept else ""
        return UNKNOWN if isinstance(first, str) else first.before(_written(kept[1:]))

    def combined(self, kind: type[ast.operator], one: Value, two: Value) -> Value | None:
        """Return the result of an operation of two values that are not numbers; None if it is that of any other."""
        first, second = one.items(), two.items()
        if kind is not ast.Add or first is None or second is None:
            return None
        both = (*first, *second)
        return Items(both, is_fixed=False) if len(both) <= LONGEST_SUM else self.either(both)

    def either(self, values: Sequence[Value]) -> Value:
        """Return one of several values, or what code makes of them that is not followed."""
        for value in values:
            value.escape()
        return UNKNOWN

    def passes(self, _iterated: Value) -> Sequence[Value] | None:
        """Return the items for which a loop runs, if each pass is to be followed."""
        return None

    def element(self, _iterated: Value) -> Value:
        """Return an item of what a loop runs over, if not each pass is followed."""
        return UNKNOWN

    def apart(self, frame: Frame) -> Names:
        """Return the names of a frame as they are before branches."""
        return self.branch(frame.names)

    def branch(self, names: Names) -> Names:
        """Return the names at the start of another branch."""
        return dict(names)

    def order(self, bodies: Sequence[Sequence[ast.stmt]]) -> Sequence[int]:
        """Return the order in which branches are followed: the first has the values themselves, the others copies."""
        return range(len(bodies))

    def left(self, frame: Frame, given: Sequence[Value]) -> None:
        """See the end of a call of a function with these arguments."""

    def joined(self, one: Names, two: Names) -> Names:
        """Return what is known of names after either of two branches."""
        return joined(one, two)

    def interrupted(self, before: Names, after: Names) -> Names:
        """Return the names at the start of a handler."""
        return joined(before, after)

    def handled(self, after: Names, others: Names) -> Names:
        """Return the names after a `try` without an exception, or after a handler."""
        return joined(after, others)

    def reached(self, run: ProgramInterpreter, node: ast.AST, frame: Frame) -> None:
        """See code that may run at any time, or never."""
        leak(run, node, frame)

    def defined(self, run: ProgramInterpreter, node: Definition, frame: Frame) -> Value:
        """Return a function or class that is not followed."""
        self.reached(run, node, frame)
        return Lambda(node, frame) if isinstance(node, ast.Lambda) else UNKNOWN

    def doubted(self, run: ProgramInterpreter, node: ast.AST, frame: Frame) -> None:
        """See code that runs here, perhaps never, or several times."""


def _written(parts: Sequence[Part]) -> str | None:
    """Return the text of parts; None if it is not known of all."""
    found = ""
    for part in parts:
        known: object = part
        if not isinstance(part, str):
            path = text(part)
            known = constant(part) if path is None else path
        if known is ... or isinstance(known, tuple):
            return None
        found += str(known)
    return found
