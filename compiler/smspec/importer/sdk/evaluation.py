"""Evaluate expressions of a program that is never run. What is not certain is unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smspec.importer.marks import holds_mark
from smspec.importer.sdk.sdk_facts import attribute_of, item_of, method_of
from smspec.importer.sdk.values import (
    LONGEST,
    Entries,
    Method,
    Reference,
    SdkFunction,
    SdkInstance,
    SdkItems,
    SdkPlace,
    SdkText,
    SdkUnknown,
    Value,
    forget,
    is_constant,
    joined,
    same,
    text_of,
)
from smspec.script.follow.constants import compared, computed

if TYPE_CHECKING:
    from smspec.importer.sdk.following import Following

_MOST_ITEMS = 200


class SdkEvaluation:
    """Expressions at the current place of the program."""

    def __init__(self, run: Following) -> None:
        self.run = run

    def value(self, node: ast.expr | None) -> Value:
        """Return the value of an expression."""
        self.run.step()
        match node:
            case None:
                return None
            case ast.Constant(value=constant):
                if isinstance(constant, str) and holds_mark(constant):
                    return SdkUnknown()
                return constant if isinstance(constant, bool | int | float | str | None) else SdkUnknown()
            case ast.Name(id=name):
                return self.run.lookup(name)
            case ast.Attribute():
                return attribute_of(self.value(node.value), node.attr, self.run.surroundings)
            case ast.Call():
                return self._call(node)
            case ast.JoinedStr():
                return joined(*map(self._formatted, node.values))
            case ast.BinOp():
                return self._binary(node)
            case ast.Dict():
                return self._mapping(node)
            case ast.List() | ast.Tuple():
                return self._items(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.BoolOp() | ast.UnaryOp() | ast.Compare():
                return self._logic(node)
            case ast.NamedExpr():
                named = self.value(node.value)
                self.run.assign(node.target, named)
                return named
        if isinstance(node, ast.DictComp | ast.ListComp):
            found = self._comprehension(node)
            if found is not None:
                return found
        self._forget_inside(node)
        return SdkUnknown()

    def _comprehension(self, node: ast.DictComp | ast.ListComp) -> Value:
        """Return what a comprehension over known items makes; None if it has conditions, or too many items."""
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs or generator.is_async:
            return None
        items = self.value(generator.iter)
        if not isinstance(items, SdkItems) or not items.is_known or len(items.values) > _MOST_ITEMS:
            return None
        kept = dict(self.run.names)
        entries, listed = Entries({}), SdkItems([])
        for item in items.values:
            self.run.assign(generator.target, item)
            if isinstance(node, ast.ListComp):
                listed.values.append(self._given(node.elt))
                continue
            key = self.value(node.key)
            entries.is_known &= is_constant(key)
            if is_constant(key):
                entries.values[key] = self._given(node.value)
        self.run.names.clear()
        self.run.names.update(kept)
        return listed if isinstance(node, ast.ListComp) else entries

    def _forget_inside(self, node: ast.expr) -> None:
        """Treat what code that is not followed may change as unknown: comprehensions and lambdas that call methods."""
        self.run.forget_changed([node])

    def _formatted(self, part: ast.expr) -> Value:
        if isinstance(part, ast.Constant):
            return str(part.value)
        if not isinstance(part, ast.FormattedValue):
            return SdkUnknown()
        value = self.value(part.value)
        if part.format_spec is not None or part.conversion not in (-1, 115):
            if is_constant(value) and part.conversion == -1 and isinstance(part.format_spec, ast.JoinedStr):
                return self._with_format(value, joined(*map(self._formatted, part.format_spec.values)))
            return SdkUnknown(is_text=True)
        return text_of(value)

    def _with_format(self, value: Value, wanted: Value) -> Value:
        if not isinstance(wanted, str) or len(wanted) > 8 or (sum(c.isdigit() for c in wanted) > 3):
            return SdkUnknown(is_text=True)
        try:
            return format(value, wanted)
        except (ValueError, TypeError):
            return SdkUnknown(is_text=True)

    def _call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        positional: list[Value] = []
        is_whole = True
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                items = self.value(argument.value)
                is_whole &= isinstance(items, SdkItems) and items.is_known
                positional += items.values if isinstance(items, SdkItems) else []
            else:
                positional.append(self._given(argument))
        named: dict[str, Value] = {}
        for word in node.keywords:
            value = self._given(word.value)
            if word.arg is not None:
                named[word.arg] = self.run.called(value, word.arg)
            elif isinstance(value, Entries) and value.is_known and all(isinstance(key, str) for key in value.values):
                named.update({str(key): item for key, item in value.values.items()})
            else:
                is_whole = False
        place = SdkPlace(self.run.cell, node.lineno)
        if isinstance(function, Method):
            return self._method(function, positional, named, place, is_whole=is_whole)
        if isinstance(function, SdkFunction):
            return self.run.inlined(function, positional, named, is_whole=is_whole)
        if isinstance(function, Reference):
            return self.run.called_reference(function.name, positional, named, place, is_whole=is_whole)
        for given in (*positional, *named.values()):
            forget(given)
        return SdkUnknown()

    def _given(self, node: ast.expr) -> Value:
        """Return the value of an argument or entry: an attribute of which nothing is known is passed as a value."""
        value = self.value(node)
        if isinstance(value, Reference):
            return self.run.outside(value)
        return SdkUnknown(value.name) if isinstance(value, Method) else value

    def _method(
        self, method: Method, positional: list[Value], named: dict[str, Value], place: SdkPlace, *, is_whole: bool
    ) -> Value:
        if isinstance(method.owner, SdkInstance):
            return self.run.called_method(method.owner, method.name, positional, named, place, is_whole=is_whole)
        if is_whole:
            return method_of(method.owner, method.name, positional, named)
        forget(method.owner)
        return SdkUnknown()

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        kind = type(node.op)
        number = computed(kind, left, right)
        if number is not None:
            return number
        if (
            kind is ast.Add
            and isinstance(left, str | SdkText | SdkUnknown)
            and isinstance(right, str | SdkText | SdkUnknown)
        ):
            return (
                SdkUnknown() if isinstance(left, SdkUnknown) and isinstance(right, SdkUnknown) else joined(left, right)
            )
        if kind is ast.Add and isinstance(left, SdkItems) and isinstance(right, SdkItems):
            if len(left.values) + len(right.values) > LONGEST:
                return SdkUnknown()
            found = SdkItems([*left.values, *right.values], is_fixed=left.is_fixed)
            found.is_known = found.is_known and left.is_known and right.is_known
            return found
        if kind is ast.BitOr and isinstance(left, Entries) and isinstance(right, Entries):
            both = Entries({**left.values, **right.values})
            both.is_known = both.is_known and left.is_known and right.is_known
            return both
        if kind is ast.Mod and isinstance(left, str):
            given = right.values if isinstance(right, SdkItems) and right.is_fixed else [right]
            return _percent(left, given)
        return SdkUnknown()

    def _mapping(self, node: ast.Dict) -> Value:
        found = Entries({})
        for key, inner in zip(node.keys, node.values, strict=True):
            value = self._given(inner)
            if key is None:
                if isinstance(value, Entries):
                    found.values.update(value.values)
                found.is_known &= isinstance(value, Entries) and value.is_known
                continue
            name = self.value(key)
            if is_constant(name):
                found.values[name] = self.run.called(value, str(name))
            else:
                found.is_known = False
        return found

    def _items(self, node: ast.List | ast.Tuple) -> Value:
        found = SdkItems([], is_fixed=isinstance(node, ast.Tuple))
        for item in node.elts:
            if isinstance(item, ast.Starred):
                inner = self.value(item.value)
                found.values += inner.values if isinstance(inner, SdkItems) else []
                found.is_known &= isinstance(inner, SdkItems) and inner.is_known
            else:
                found.values.append(self.value(item))
        return found

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            lower, upper = self.value(node.slice.lower), self.value(node.slice.upper)
            if not isinstance(owner, str) or node.slice.step is not None:
                return SdkUnknown()
            if (lower is None or isinstance(lower, int)) and (upper is None or isinstance(upper, int)):
                return owner[lower:upper]
            return SdkUnknown()
        return item_of(owner, self.value(node.slice), self.run.surroundings)

    def _choice(self, node: ast.IfExp) -> Value:
        test = truth(self.value(node.test))
        if test is not None:
            return self.value(node.body if test else node.orelse)
        one, two = self.value(node.body), self.value(node.orelse)
        if same(one, two):
            return one
        forget(one)
        forget(two)
        return SdkUnknown(is_text=isinstance(one, str | SdkText) and isinstance(two, str | SdkText))

    def _logic(self, node: ast.BoolOp | ast.UnaryOp | ast.Compare) -> Value:
        if isinstance(node, ast.UnaryOp):
            value = self.value(node.operand)
            if isinstance(node.op, ast.USub) and isinstance(value, int | float) and not isinstance(value, bool):
                return -value
            test = truth(value)
            return not test if isinstance(node.op, ast.Not) and test is not None else SdkUnknown()
        if isinstance(node, ast.BoolOp):
            return self._boolean(node)
        if len(node.ops) != 1:
            self._forget_inside(node)
            return SdkUnknown()
        found = _compared(node.ops[0], self.value(node.left), self.value(node.comparators[0]))
        return SdkUnknown() if found is None else found

    def _boolean(self, node: ast.BoolOp) -> Value:
        value: Value = None
        for part in node.values:
            value = self.value(part)
            test = truth(value)
            if test is None:
                self._forget_inside(node)
                return SdkUnknown()
            if test is isinstance(node.op, ast.Or):
                break
        return value


def truth(value: Value) -> bool | None:
    """Return whether a value is true; None if that is unknown."""
    if is_constant(value):
        return bool(value)
    if isinstance(value, SdkItems | Entries):
        return bool(value.values) if value.is_known else None
    if isinstance(value, SdkText):
        return True if any(isinstance(part, str) for part in value.parts) else None
    return True if isinstance(value, SdkFunction | SdkInstance) else None


def _compared(kind: ast.cmpop, one: Value, two: Value) -> bool | None:
    if isinstance(kind, ast.Is | ast.IsNot) and two is None and not isinstance(one, SdkUnknown | Reference):
        return (one is None) is isinstance(kind, ast.Is)
    if isinstance(kind, ast.In | ast.NotIn):
        return _contains(two, one, isinstance(kind, ast.In))
    return compared(type(kind), one, two) if is_constant(one) and is_constant(two) else None


def _contains(owner: Value, item: Value, expected: bool) -> bool | None:
    if not is_constant(item):
        return None
    if isinstance(owner, str) and isinstance(item, str):
        return (item in owner) is expected
    if isinstance(owner, Entries) and owner.is_known:
        return (item in owner.values) is expected
    if isinstance(owner, SdkItems) and owner.is_known and all(map(is_constant, owner.values)):
        return (item in owner.values) is expected
    return None


def _percent(pattern: str, given: list[Value]) -> Value:
    """Return the result of ``%`` with plain ``%s`` and ``%d``."""
    if "\0" in pattern or "\1" in pattern:
        return SdkUnknown(is_text=True)
    pieces = pattern.replace("%%", "\0").replace("%d", "%s\1").split("%s")
    if len(pieces) != len(given) + 1 or any("%" in piece for piece in pieces):
        return SdkUnknown(is_text=True)
    if any(piece[:1] == "\1" and type(value) is not int for value, piece in zip(given, pieces[1:], strict=True)):
        return SdkUnknown(is_text=True)  # `%d` writes other numbers, and truths, in another way
    parts: list[Value] = [pieces[0]]
    for value, piece in zip(given, pieces[1:], strict=True):
        parts += [text_of(value), piece]
    return joined(*(part.removeprefix("\1").replace("\0", "%") if isinstance(part, str) else part for part in parts))
