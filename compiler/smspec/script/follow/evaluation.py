"""Evaluate expressions as far as they are known, in the order in which Python would, and assign their values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smspec.script.follow.code import is_failure
from smspec.script.follow.facts import ENVIRONMENTS, EXITS, LARGEST, Part, compared, computed, percent, written
from smspec.script.follow.frames import Call, Frame
from smspec.script.follow.values import (
    UNKNOWN,
    GivenWords,
    Items,
    Known,
    Named,
    Operation,
    Unknown,
    Value,
    constant,
    items,
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
            return self._items(node)
        if isinstance(node, ast.JoinedStr):
            return self.run.domain.text([self._part(part) for part in node.values])
        if isinstance(node, ast.BinOp):
            return self.operation(node, self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        return self._conditional(node)

    def _name(self, name: str) -> Value:
        found = self.frame.get(name)
        if found is None:
            return self.run.domain.unbound(name, self.run)
        if found is not UNKNOWN:
            return found
        named = self.run.domain.named(found, name)
        if named is not found:
            self.frame.learn(name, named)
        return named

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
            test = self.value(node.test).truth()
            if test is None:
                return self._one_of(node, node.body, node.orelse)
            return self.value(node.body if test else node.orelse)
        if isinstance(node, ast.Dict):
            keys = [None if key is None else self.value(key) for key in node.keys]
            return self.run.domain.mapping(list(zip(keys, map(self.value, node.values), strict=True)))
        if isinstance(node, ast.BoolOp):
            return self._boolean(node)
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.UnaryOp):
            value = self.value(node.operand)
            operand, test = constant(value), value.truth()
            if isinstance(node.op, ast.Not) and test is not None:
                return Known(not test)
            if isinstance(node.op, ast.USub) and isinstance(operand, int | float):
                return Known(-operand)
            return UNKNOWN
        if isinstance(node, ast.NamedExpr):
            return self._named(node.target.id, self.value(node.value))
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            return self.run.domain.defined(self.run, node, self.frame)
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return self._yielded(node)
        children = [self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return self.run.domain.either(children)

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> Value:
        """Follow what gives an item: no other may be taken."""
        value = self.value(node.value)
        if isinstance(node, ast.YieldFrom):
            value.take()
        value.escape()
        self.frame.has_left = True
        self.run.is_certain = False
        return UNKNOWN

    def _one_of(self, whole: ast.expr, *nodes: ast.expr, first: Value | None = None) -> Value:
        """Follow expressions of which only some are evaluated, and return the value of one of them."""
        with self.run.perhaps(self.frame):
            values = [*(() if first is None else (first,)), *map(self.value, nodes)]
        self.run.domain.doubted(self.run, whole, self.frame)
        return self.run.domain.either(values)

    def _named(self, name: str, value: Value) -> Value:
        """Assign to a name; a comprehension assigns to one several times, or never."""
        frame = self.frame
        value = self.run.domain.named(value, name)
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
        domain = self.run.domain
        arguments, is_whole = self._spread(node.args)
        keywords: dict[str, Value] = {}
        for word in node.keywords:
            value = self.value(word.value)
            more = value.entries() if word.arg is None else {word.arg: domain.given(value, word.arg)}
            keywords |= {"**": value} if more is None else more
        given = tuple(map(domain.given, arguments))
        call = Call(self.run, node, given, keywords, is_whole and "**" not in keywords)
        if isinstance(function, Named):
            return self.run.called(function.name, call)
        if isinstance(node.func, ast.Attribute):
            found = self.run.recorder.method_called(owner, node.func.attr, call)
            if found is not None or function is UNKNOWN:
                return owner.method(node.func.attr, call) if found is None else found
        return function.call(call)

    def _spread(self, nodes: Sequence[ast.expr]) -> tuple[tuple[Value, ...], bool]:
        """Return the values of expressions, those behind a `*` included, and whether these are all."""
        values: list[Value] = []
        is_whole = True
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node)
            more = value.spread() if isinstance(node, ast.Starred) else (value,)
            values += (_unknown(value),) if more is None else more
            is_whole &= more is not None
        return tuple(values), is_whole

    def _items(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        values, is_whole = self._spread(node.elts)
        if isinstance(node, ast.Set):
            return Items(values, is_fixed=False) if is_whole else _unknown(*values)
        return self.run.domain.items(values, is_fixed=isinstance(node, ast.Tuple), is_whole=is_whole)

    def _part(self, node: ast.expr) -> Part:
        """Return a part of an f-string; unknown if it is not written as `str` writes it."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        if not isinstance(node, ast.FormattedValue):
            return self.value(node)
        value = self.value(node.value)
        if node.conversion not in (-1, ord("s")):
            return UNKNOWN
        if node.format_spec is None:
            return value
        wanted = text(self.value(node.format_spec))
        found = None if wanted is None or node.conversion != -1 else written(constant(value), wanted)
        return UNKNOWN if found is None else found

    def operation(self, node: Operation, left: Value, right: Value) -> Value:
        """Return the result of an operation."""
        special = left.operation(node, right, self.run)
        if special is None:
            special = self.run.domain.combined(type(node.op), left, right)
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
        left.look_through()
        right.look_through()
        if isinstance(node.op, ast.Mod) and isinstance(pattern := constant(left), str):
            return self.run.domain.text(percent(pattern, items(right) if right.is_fixed else [right]))
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            lower, upper, step = [
                constant(self.value(n)) for n in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if isinstance(owner, Named) and owner.name == "sys.argv" and (lower, upper, step) == (1, None, None):
                return GivenWords()
            return self._slice(owner, lower, upper) if step is None else _unknown(owner)
        key = self.value(node.slice)
        if isinstance(owner, Named):
            return self.run.looked_up(owner.name, key, self.run.place(node))
        key.escape()
        found = self.run.recorder.item(owner, key)
        return owner.item(key, self.run.place(node)) if found is None else found

    def _slice(self, owner: Value, lower: object, upper: object) -> Value:
        found, values = constant(owner), items(owner)
        if isinstance(lower, int | None) and isinstance(upper, int | None):
            if isinstance(found, str):
                return Known(found[lower:upper])
            if values is not None:
                return self.run.domain.items(values[lower:upper], is_fixed=owner.is_fixed)
        return _unknown(owner)

    def _boolean(self, node: ast.BoolOp) -> Value:
        value: Value = UNKNOWN
        for index, part in enumerate(node.values, start=1):
            value = self.value(part)
            test = value.truth()
            if index < len(node.values) and test is None:
                return self._one_of(node, *node.values[index:], first=value)
            if test is isinstance(node.op, ast.Or):
                break
        return value

    def _compared(self, node: ast.Compare) -> Value:
        values = [self.value(part) for part in (node.left, *node.comparators)]
        if not all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            for value in values:
                value.look_through()
        if len(values) > 2:
            return UNKNOWN
        found = compared(type(node.ops[0]), *map(constant, values))
        if isinstance(node.ops[0], ast.Is | ast.IsNot) and constant(values[1]) is None and not values[0].may_be_none:
            found = isinstance(node.ops[0], ast.IsNot)
        return UNKNOWN if found is None else Known(found)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        iterated = self.value(node.generators[0].iter)
        inner = Evaluation(self.run, Frame(self.frame.source, self.frame))
        inner.frame.is_comprehension = True
        passes = self.run.domain.passes(iterated)
        is_plain = len(node.generators) == 1 and not node.generators[0].is_async
        if passes is not None and is_plain and isinstance(node, ast.ListComp | ast.DictComp):
            return inner._each(node, passes)
        if not isinstance(node, ast.GeneratorExp):
            iterated.take()
        iterated.look_through()
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
            found = _unknown(*(inner.value(part) for part in parts))
        self.run.domain.doubted(self.run, node, self.frame)
        return found

    def _each(self, node: ast.ListComp | ast.DictComp, passes: Sequence[Value]) -> Value:
        """Return what a comprehension makes of known items."""
        made: list[tuple[Value | None, Value]] = []
        is_whole = True
        for item in passes:
            Assignment(self.run, self.frame).assign(node.generators[0].target, item)
            tests = [self.value(test).truth() for test in node.generators[0].ifs]
            is_whole &= None not in tests or False in tests
            if not all(tests):
                continue
            key = self.value(node.key) if isinstance(node, ast.DictComp) else None
            made.append((key, self.value(node.value if isinstance(node, ast.DictComp) else node.elt)))
        if isinstance(node, ast.DictComp):
            return self.run.domain.mapping([*made, *(() if is_whole else ((UNKNOWN, UNKNOWN),))])
        return self.run.domain.items([value for _, value in made], is_whole=is_whole)


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
            if target.id in self.frame.globals and not self.run.is_certain:
                value.escape()
                value = UNKNOWN  # a branch of a function does not keep apart what the names of its module are
            self.frame.set(target.id, self.run.domain.named(value, target.id))
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value)
            self.run.recorder.attribute_set(owner, target.attr, value, target)
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
        owner.set_item(key, value)
        if not isinstance(owner, Named):
            key.escape()
        elif owner.name in ENVIRONMENTS:
            self.run.changed_variables.add(text(key) or "*")
        else:
            self.run.recorder.attribute_set(Named(text(key) or "", self.run), "…", value, target)
            self.run.tampered_with(owner.name)
