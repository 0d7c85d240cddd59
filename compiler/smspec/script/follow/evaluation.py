"""Evaluate expressions as far as they are known, in the order in which Python would, and assign their values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.script.follow.code import is_failure
from smspec.script.follow.constants import LARGEST, compared, computed
from smspec.script.follow.effects import BUILTINS, ENVIRONMENTS, EXITS
from smspec.script.follow.frames import Call, Frame, leak
from smspec.script.follow.values import (
    UNKNOWN,
    GivenWords,
    Items,
    Known,
    Named,
    Unknown,
    Value,
    constant,
    items,
    known_items,
    known_path,
    known_text,
    text,
)

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Evaluation:
    """Expressions in one frame."""

    def __init__(self, run: ProgramInterpreter, frame: Frame) -> None:
        self.run = run
        self.frame = frame

    def value(self, node: ast.expr | None) -> Value:
        """Return the known value of an expression."""
        if node is None:
            return Known(None)
        self.run.step()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bytes | complex) or (isinstance(node.value, int) and node.value >= LARGEST):
                return UNKNOWN
            return UNKNOWN if node.value is ... else Known(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return self.run.attribute_of(self.value(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._items(node.elts, is_fixed=isinstance(node, ast.Tuple))
        if isinstance(node, ast.JoinedStr):
            return self._joined(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        return self._conditional(node)

    def _name(self, name: str) -> Value:
        found = self.frame.get(name)
        if found is not None:
            return found
        return Named(name, self.run) if name in BUILTINS else UNKNOWN

    def fails(self, raised: ast.expr | None) -> bool:
        """Return whether an uncaught exception fails the job."""
        if raised is None or not is_failure(raised):
            return raised is None
        kind = raised.func if isinstance(raised, ast.Call) else raised
        value = self.value(kind) if isinstance(kind, ast.Name | ast.Attribute) else UNKNOWN
        return value.is_failure(self.fails)

    def full_name(self, node: ast.expr) -> str:
        """Return the full name of something of another module, if it is a plain dotted name."""
        if isinstance(node, ast.Name):
            found = self.value(node)
            return found.name if isinstance(found, Named) else ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = self.full_name(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def exits(self, node: ast.AST) -> bool:
        """Return whether this is a call that ends the script."""
        return isinstance(node, ast.Call) and self.full_name(node.func) in EXITS

    def _conditional(self, node: ast.expr) -> Value:
        if isinstance(node, ast.IfExp):
            test = constant(self.value(node.test))
            if test is not ...:
                return self.value(node.body if test else node.orelse)
            with self.run.perhaps(self.frame):
                return _unknown(self.value(node.body), self.value(node.orelse))
        if isinstance(node, ast.BoolOp):
            return self._boolean(node)
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.UnaryOp):
            operand = constant(self.value(node.operand))
            if isinstance(node.op, ast.Not) and operand is not ...:
                return Known(not operand)
            if isinstance(node.op, ast.USub) and isinstance(operand, int | float):
                return Known(-operand)
            return UNKNOWN
        if isinstance(node, ast.NamedExpr):
            return self._named(node.target.id, self.value(node.value))
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            leak(self.run, node, self.frame)
            return UNKNOWN
        return _unknown(*(self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)))

    def _named(self, name: str, value: Value) -> Value:
        """Assign to a name; a comprehension assigns to one several times, or never."""
        frame = self.frame
        if not frame.is_comprehension:
            frame.set(name, value)
            return value
        while frame.is_comprehension and frame.outer is not None:
            frame = frame.outer
        value.escape()
        frame.set(name, UNKNOWN)
        return UNKNOWN

    def _call(self, node: ast.Call) -> Value:
        owner, function = UNKNOWN, UNKNOWN
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            function = self.run.attribute_of(owner, node.func.attr)
        else:
            function = self.value(node.func)
        arguments = tuple(self.value(argument) for argument in node.args)
        keywords = {word.arg or "**": self.value(word.value) for word in node.keywords}
        is_whole = "**" not in keywords and not any(isinstance(argument, ast.Starred) for argument in node.args)
        call = Call(self.run, node, arguments, keywords, is_whole)
        if isinstance(function, Named):
            return self.run.called(function.name, call)
        if isinstance(node.func, ast.Attribute):
            self.run.recorder.method_called(owner, node.func.attr, call)
        if isinstance(node.func, ast.Attribute) and function is UNKNOWN:
            return owner.method(node.func.attr, call)
        return function.call(call)

    def _items(self, nodes: Sequence[ast.expr], *, is_fixed: bool) -> Value:
        values = tuple(self.value(node) for node in nodes)
        if any(isinstance(node, ast.Starred) for node in nodes):
            return _unknown(*values)
        return Items(values, is_fixed=is_fixed)

    def _joined(self, node: ast.JoinedStr) -> Value:
        parts: list[object] = []
        first: Value | None = None
        for part in node.values:
            value = self.value(part.value if isinstance(part, ast.FormattedValue) else part)
            is_plain = isinstance(part, ast.Constant)
            if isinstance(part, ast.FormattedValue):
                is_plain = part.conversion == -1 and part.format_spec is None
                if part.format_spec is not None:
                    self.value(part.format_spec)
            if not parts and is_plain:
                first = value
            found = text(value)
            parts.append((constant(value) if found is None else found) if is_plain else ...)
        if ... not in parts:
            return known_text("".join(map(str, parts)))
        return UNKNOWN if first is None else first.before(None if ... in parts[1:] else "".join(map(str, parts[1:])))

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        special = left.operation(node, right, self.run)
        if special is not None:
            return special
        one, two = text(left), text(right)
        if one is not None and two is not None:
            if isinstance(node.op, ast.Add):
                return known_text(one + two)
            if isinstance(node.op, ast.Div):  # Only a path can be divided by a string.
                return known_path(two if two.startswith("/") else f"{one.rstrip('/')}/{two}")
        if isinstance(node.op, ast.BitOr) and _is_type(left) and _is_type(right):
            return Items((left, right))
        number = computed(type(node.op), constant(left), constant(right))
        if number is not None:
            return Known(number)
        first, second = items(left), items(right)
        if isinstance(node.op, ast.Add) and first is not None and second is not None:
            return known_items(first, second)
        left.look_through()
        right.look_through()
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            lower, *_ = [constant(self.value(n)) for n in (node.slice.lower, node.slice.upper, node.slice.step)]
            is_rest = lower == 1 and node.slice.upper is None and node.slice.step is None
            if isinstance(owner, Named) and owner.name == "sys.argv" and is_rest:
                return GivenWords()
            return _unknown(owner)
        key = self.value(node.slice)
        if isinstance(owner, Named):
            return self.run.looked_up(owner.name, key, self.run.place(node))
        index, values = constant(key), items(owner) or ()
        if isinstance(index, int) and -len(values) <= index < len(values):
            return values[index]
        key.escape()
        return owner.item(key, self.run.place(node))

    def _boolean(self, node: ast.BoolOp) -> Value:
        values = [self.value(node.values[0])]
        first = constant(values[0])
        if first is not ... and bool(first) is isinstance(node.op, ast.Or):
            return values[0]
        with self.run.perhaps(self.frame):
            values += [self.value(value) for value in node.values[1:]]
        if len(values) == 2 and first is not ...:
            return values[1]
        return _unknown(*values)

    def _compared(self, node: ast.Compare) -> Value:
        values = [self.value(part) for part in (node.left, *node.comparators)]
        if not all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            for value in values:
                value.look_through()
        found = compared(type(node.ops[0]), *map(constant, values)) if len(values) == 2 else None
        return UNKNOWN if found is None else Known(found)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        self.value(node.generators[0].iter).look_through()
        inner = Evaluation(self.run, Frame(self.frame.source, self.frame))
        inner.frame.is_comprehension = True
        for generator in node.generators:
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Name):
                    inner.frame.set(target.id, UNKNOWN)
        with self.run.perhaps(self.frame):
            for generator in node.generators[1:]:
                inner.value(generator.iter).look_through()
            for generator in node.generators:
                for test in generator.ifs:
                    inner.value(test)
            parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            return _unknown(*(inner.value(part) for part in parts))


def _is_type(value: Value) -> bool:
    """Return whether a value may be part of a union of types."""
    found = constant(value)
    if isinstance(value, Items):
        return value.is_fixed
    return isinstance(value, Unknown) or found is ... or found is None or isinstance(found, str)


def _unknown(*values: Value) -> Value:
    for value in values:
        value.escape()
    return UNKNOWN


class Assignment:
    """Assignments in one frame."""

    def __init__(self, run: ProgramInterpreter, frame: Frame) -> None:
        self.run = run
        self.frame = frame
        self.value = Evaluation(run, frame).value

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            self.frame.set(target.id, value)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            if not self.run.is_certain:
                value.escape()
                value = UNKNOWN
            owner.set_attribute(target.attr, value)
            if isinstance(owner, Named):
                self.run.tampered_with(f"{owner.name}.{target.attr}")
        elif isinstance(target, ast.Subscript):
            self._set_item(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = items(value) or ()
            if len(parts) != len(target.elts) or any(isinstance(part, ast.Starred) for part in target.elts):
                value.escape()
                parts = (UNKNOWN,) * len(target.elts)
            for inner, part in zip(target.elts, parts, strict=True):
                self.assign(inner, part)

    def _set_item(self, target: ast.Subscript, value: Value) -> None:
        owner, key = self.value(target.value), self.value(target.slice)
        value.escape()
        owner.set_item()
        if not isinstance(owner, Named):
            key.escape()
        elif owner.name in ENVIRONMENTS:
            self.run.changed_variables.add(text(key) or "*")
        else:
            self.run.tampered_with(owner.name)
