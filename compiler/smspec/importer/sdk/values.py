"""The values of a program that starts jobs, as the follower of programs meets them, and as a job is given them.

Lists and mappings change as in the program, and can become unknown later; a value that only a run has has an identity.
In what a job is given, constants are Python's own; where the follower meets one, it is `Known`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Union

from smspec.importer.marks import holds_mark
from smspec.script.follow import values as followed
from smspec.script.follow.facts import returns_text
from smspec.script.follow.values import UNKNOWN, Bound, Known, Named
from smspec.source.frozen import dataclass, field

if TYPE_CHECKING:
    from smspec.script.follow.frames import Call
    from smspec.source import Span

LONGEST = 20_000
"""Characters of a string, and items of a collection: no request has more."""

_MOST_COMPARED = 1_000
"""The maximum number of values that are compared: a hostile program does so repeatedly."""

Value = Union[None, bool, int, float, str, followed.Value]


class SdkUnknown(followed.Value):
    """A value that only a run has. ``name`` is what the program calls it; ``is_text`` if it is certainly a string.

    It is equal to itself only. Copies of a state share it. ``function``: what a call of it calls; ``file``: what it is
    read from.
    """

    def __init__(
        self, name: str = "", *, is_text: bool = False, function: followed.Value | None = None, file: str = ""
    ) -> None:
        self.name = name
        self.is_text = is_text
        self.function = function
        self.file = file

    def call(self, call: Call) -> followed.Value:
        return call.unknown_result() if self.function is None else applied(self.function, call)

    def escape(self) -> None:
        if isinstance(self.function, Bound):
            self.function.escape()

    def entered(self) -> followed.Value:
        return self if self.file else UNKNOWN


@dataclass(frozen=True, slots=True)
class SdkText(followed.Value):
    """A string with unknown parts."""

    parts: tuple[Union[str, SdkUnknown], ...]
    may_be_none = False

    def truth(self) -> bool | None:
        return True if any(isinstance(part, str) for part in self.parts) else None

    def method(self, name: str, _call: Call) -> followed.Value:
        return SdkUnknown(is_text=returns_text(name))


class Collection(followed.Value):
    """What the program can change; ``is_known``: all changes are known."""

    may_be_none = False
    is_known = True

    def label(self) -> object:
        """Return what two of them have in common, if they may stand for the same one."""
        return None

    def members(self) -> dict[object, Value]:
        """Return the values in it, by key or position."""
        return {}

    def fill(self, members: dict[object, Value]) -> None:
        """Put others in the place of the values in it."""

    def item(self, _key: followed.Value, _place: Span) -> followed.Value:
        return UNKNOWN

    def escape(self) -> None:
        """Treat it, and all that it contains, as changed by unknown code."""
        forget(self)

    def look_through(self) -> None:
        """Let other code read it; that changes nothing."""


class SdkItems(Collection):
    """A list or, if ``is_fixed``, a tuple; if ``is_once``, an iterator, which has its items only once."""

    is_once = False

    def __init__(self, values: list[Value], *, is_fixed: bool = False, is_known: bool = True) -> None:
        self.values = values
        self.is_fixed = is_fixed
        self.is_known = is_known and len(values) <= LONGEST

    def label(self) -> object:
        return self.is_fixed

    def members(self) -> dict[object, Value]:
        return dict(enumerate(self.values))

    def fill(self, members: dict[object, Value]) -> None:
        self.values = list(members.values())

    def items(self) -> tuple[followed.Value, ...] | None:
        return tuple(map(lifted, self.values)) if self.is_known else None

    def spread(self) -> tuple[followed.Value, ...] | None:
        return self.items()

    def truth(self) -> bool | None:
        return bool(self.values) if self.is_known else None

    def constant(self) -> object:
        is_plain = self.is_known and len(self.values) <= _MOST_COMPARED and all(map(is_constant, self.values))
        return tuple(self.values) if is_plain else ...

    def item(self, key: followed.Value, _place: Span) -> followed.Value:
        index = key.constant()
        is_there = self.is_known and isinstance(index, int) and -len(self.values) <= index < len(self.values)
        return lifted(self.values[index]) if is_there and isinstance(index, int) else UNKNOWN

    def set_item(self, key: followed.Value, value: followed.Value) -> None:
        index = key.constant()
        if self.is_known and isinstance(index, int) and 0 <= index < len(self.values):
            self.values[index] = lowered(value)
        else:
            self.escape()

    def grown(self, node: ast.AugAssign, right: followed.Value) -> followed.Value | None:
        if self.is_fixed or not isinstance(node.op, ast.Add):
            return None
        self.add(right)
        return self

    def add(self, other: Value) -> None:
        """Add the items of another list."""
        is_whole = isinstance(other, SdkItems) and other.is_known and len(self.values) + len(other.values) <= LONGEST
        if is_whole and self.is_known and isinstance(other, SdkItems):
            self.values += other.values
        else:
            self.is_known = False

    def method(self, name: str, call: Call) -> followed.Value:
        first = call.arguments[0] if len(call.arguments) == 1 and call.is_whole else None
        if name == "append" and first is not None:
            self.values.append(lowered(first))
            self.is_known &= len(self.values) <= LONGEST
        elif name == "extend" and isinstance(first, SdkItems):
            self.add(first)
        elif name == "copy" and call.is_whole:
            return SdkItems(list(self.values), is_known=self.is_known)
        else:
            if name not in ("index", "count"):
                self.escape()
            return UNKNOWN
        return Known(None)


class Entries(Collection):
    """A mapping with constant keys."""

    loses_items = True

    def __init__(self, values: dict[object, Value], *, is_known: bool = True) -> None:
        self.values = values
        self.is_known = is_known and len(values) <= LONGEST

    def members(self) -> dict[object, Value]:
        return self.values

    def fill(self, members: dict[object, Value]) -> None:
        self.values = members

    def entries(self) -> dict[str, followed.Value] | None:
        names = {name: lifted(value) for name, value in self.values.items() if isinstance(name, str)}
        return names if self.is_known and len(names) == len(self.values) else None

    def truth(self) -> bool | None:
        return bool(self.values) if self.is_known else None

    def constant(self) -> object:
        """Return the keys, as `in` compares them."""
        return tuple(self.values) if self.is_known and len(self.values) <= _MOST_COMPARED else ...

    def item(self, key: followed.Value, _place: Span) -> followed.Value:
        name = key.constant()
        if not is_constant(name):
            return UNKNOWN
        found = self.values.get(name)
        if not self.is_known and isinstance(found, SdkItems | Entries):
            forget(found)  # other code may have put another one here, but what is set in it from now on is known
            return found
        return lifted(found) if self.is_known and name in self.values else SdkUnknown(str(name))

    def set_item(self, key: followed.Value, value: followed.Value) -> None:
        name = key.constant()
        if isinstance(name, str | int | float):
            self.values[name] = lowered(value, str(name))
        else:
            self.is_known = False

    def delete_item(self, key: followed.Value) -> None:
        name = key.constant()
        self.is_known &= is_constant(name) and name in self.values
        if is_constant(name):
            self.values.pop(name, None)

    def update(self, other: Value, named: dict[str, Value]) -> None:
        """Set all entries of another mapping."""
        self.is_known &= isinstance(other, Entries) and other.is_known
        if isinstance(other, Entries):
            self.values.update(other.values)
        self.values.update(named)

    def grown(self, node: ast.AugAssign, right: followed.Value) -> followed.Value | None:
        if not isinstance(node.op, ast.BitOr):
            return None
        self.update(right, {})
        return self

    def method(self, name: str, call: Call) -> followed.Value:
        given = [lowered(value) for value in call.arguments]
        if not call.is_whole:
            self.escape()
            return UNKNOWN
        if name == "update" and len(given) <= 1:
            named = {key: lowered(value, key) for key, value in call.keywords.items()}
            self.update(given[0] if given else Entries({}), named)
            return Known(None)
        if name == "copy":
            return Entries(dict(self.values), is_known=self.is_known)
        is_key = bool(given) and is_constant(given[0])
        if name == "clear" or (name == "pop" and is_key and not self.is_known):
            gone = list(self.values) if name == "clear" else given[:1]
            for key in gone:
                self.values.pop(key, None)
            self.is_known |= name == "clear"
            return Known(None) if name == "clear" else UNKNOWN
        if not self.is_known or (not is_key and name in ("get", "pop", "setdefault")):
            self.is_known &= name in ("get", "keys", "values", "items")
            return UNKNOWN
        default = given[1] if len(given) > 1 else None
        match name:
            case "get":
                return lifted(self.values.get(given[0], default))
            case "pop":
                return lifted(self.values.pop(given[0], default))
            case "setdefault":
                return lifted(self.values.setdefault(given[0], default))
            case "keys":
                return SdkItems([key for key in self.values if isinstance(key, str | int | float | None)])
            case "values":
                return SdkItems(list(self.values.values()))
            case "items":
                pairs = [(key, item) for key, item in self.values.items() if isinstance(key, str | int | float | None)]
                return SdkItems([SdkItems([key, item], is_fixed=True) for key, item in pairs])
        self.escape()
        return UNKNOWN


class SdkInstance(Collection):
    """An object of the SDK: the full name of its class, or of the function that returned it, and the arguments.

    ``name`` is that of the first variable that it was assigned to; ``place`` is where it was created. ``doubt``: why
    arguments are not known; ``replaced``: which of its methods the program replaces; ``number``: of what it makes.
    """

    doubt = ""
    replaced = ""
    number = 0

    def __init__(self, kind: str, positional: list[Value], arguments: dict[str, Value], place: SdkPlace) -> None:
        self.kind = kind
        self.positional = positional
        self.arguments = arguments
        self.name = ""
        self.place = place

    def label(self) -> object:
        return self.kind, self.place, len(self.positional)

    def members(self) -> dict[object, Value]:
        return dict((*enumerate(self.positional), *self.arguments.items()))

    def fill(self, members: dict[object, Value]) -> None:
        self.positional = [value for key, value in members.items() if isinstance(key, int)]
        self.arguments = {key: value for key, value in members.items() if isinstance(key, str)}

    def truth(self) -> bool:
        return True

    def attribute(self, name: str) -> followed.Value:
        return lifted(self.arguments[name]) if self.is_known and name in self.arguments else Bound(self, name)

    def set_attribute(self, name: str, value: followed.Value) -> None:
        self.arguments[name] = lowered(value)

    def method(self, name: str, call: Call) -> followed.Value:
        return call.run.recorder.method_called(self, name, call) or UNKNOWN


@dataclass(frozen=True, slots=True)
class SdkPlace:
    """A line of a cell; the cell is 0 in a program."""

    cell: int = 0
    line: int = field(default=0)

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"


def applied(function: followed.Value, call: Call) -> followed.Value:
    """Return the result of a call of a value."""
    if isinstance(function, Named):
        return call.run.called(function.name, call)
    if isinstance(function, Bound):
        found = call.run.recorder.method_called(function.owner, function.name, call)
        return function.owner.method(function.name, call) if found is None else found
    return function.call(call)


def is_constant(value: object) -> bool:
    """Return whether a value is a number, a string, true, false, or None."""
    return value is None or isinstance(value, bool | int | float | str)


def lifted(value: Value) -> followed.Value:
    """Return a value as the follower meets it."""
    return value if isinstance(value, followed.Value) else Known(value)


def lowered(value: followed.Value, name: str = "") -> Value:
    """Return a value as it is kept; ``name``: under which, so that an unknown one has an identity."""
    if isinstance(value, Known):
        return SdkUnknown(name) if isinstance(value.value, str) and holds_mark(value.value) else value.value
    if value is UNKNOWN:
        return SdkUnknown(name)
    if isinstance(value, SdkUnknown | SdkInstance) and not value.name:
        value.name = name
    return value


def joined(*parts: Value) -> Value:
    """Return the concatenation of strings; unknown if a part is neither a string nor unknown."""
    found: list[str | SdkUnknown] = []
    for part in parts:
        for piece in part.parts if isinstance(part, SdkText) else (part,):
            if isinstance(piece, str) and found and isinstance(found[-1], str):
                found[-1] += piece
            elif isinstance(piece, str | SdkUnknown):
                found.append(piece)
            else:
                return SdkUnknown()
    kept = tuple(piece for piece in found if piece != "")
    if sum(len(piece) if isinstance(piece, str) else 1 for piece in kept) > LONGEST:
        return SdkUnknown(is_text=True)
    if not kept:
        return ""
    return kept[0] if len(kept) == 1 and isinstance(kept[0], str) else SdkText(kept)


def text_of(value: Value) -> Value:
    """Return what `str` makes of a value."""
    if isinstance(value, str | SdkText):
        return value
    if is_constant(value):
        return str(value)
    return SdkText((value,)) if isinstance(value, SdkUnknown) else SdkUnknown(is_text=True)


def forget(value: Value, done: set[int] | None = None) -> None:
    """Treat a collection, and all that it contains, as changed by unknown code."""
    seen = set[int]() if done is None else done
    if isinstance(value, Bound):
        value = value.owner
    if not isinstance(value, Collection):
        if isinstance(value, followed.Value):
            value.escape()
    elif id(value) not in seen:
        seen.add(id(value))
        value.is_known = False
        for item in value.members().values():
            forget(item, seen)
