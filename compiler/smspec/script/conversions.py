"""What a function of the script makes of one word, if it uses only text, numbers, lists, and their methods.

The function is computed from its syntax tree. Anything else that it uses makes the result unknown.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

MOST_STEPS = 2_000
_LONGEST = 10_000

Names = dict[str, object]


class UnknownResult(Exception):
    """The function does something that is not computed."""


class _Raised(Exception):
    """The function raises an exception."""


class _Returned(Exception):
    """The function returns."""


_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{each.__name__: each for each in (abs, all, any, bool, dict, float, int, len, list, max, min, str, sum)},
    **{each.__name__: each for each in (round, sorted, tuple)},
}
_METHODS = frozenset(
    {"casefold", "count", "endswith", "find", "isalpha", "isdecimal", "isdigit", "isnumeric", "lower", "lstrip"}
    | {"partition", "removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "split", "splitlines"}
    | {"startswith", "strip", "title", "upper", "index"}
)
_OPERATIONS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
}
_FAILURES = (ValueError, TypeError, LookupError, ArithmeticError)


def certainly_rejects(node: ast.FunctionDef | ast.Lambda, word: str, outer: Callable[[str], object]) -> bool:
    """Return whether a function certainly raises an exception for a word.

    ``outer``: the constant of a name from outside, a `type` for a builtin of that name, `...` for anything else.
    """
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return False
    if not plain or len(plain) - len(given.defaults) > 1 or given.vararg or given.kwarg or given.kwonlyargs:
        return False
    computation = _Computation({plain[0].arg: word, **{each.arg: ... for each in plain[1:]}}, outer)
    try:
        if isinstance(node, ast.Lambda):
            computation.value(node.body)
        else:
            computation.block(node.body)
    except _Raised:
        return True
    except (_Returned, UnknownResult, RecursionError, MemoryError):
        return False
    return False


class _Computation:
    def __init__(self, names: Names, outer: Callable[[str], object]) -> None:
        self._names = names
        self._outer = outer
        self._steps = 0

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Compute statements up to the end, a return, or an exception."""
        for statement in statements:
            match statement:
                case ast.Return(value=value):
                    if value is not None:
                        self.value(value)
                    raise _Returned
                case ast.Expr(value=value):
                    self.value(value)
                case ast.Assign(targets=[target], value=value):
                    self._bind(target, self.value(value))
                case ast.If(test=test, body=body, orelse=orelse):
                    self.block(body if self.value(test) else orelse)
                case ast.Pass():
                    pass
                case _:
                    raise UnknownResult

    def value(self, node: ast.expr) -> object:
        """Return the value of an expression."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise UnknownResult
        try:
            found = self._computed(node)
        except _FAILURES as fault:
            raise _Raised from fault
        if isinstance(found, str | list | tuple | dict) and len(found) > _LONGEST:
            raise UnknownResult
        return found

    def _computed(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value) if isinstance(value, str | int | float | None):
                return value
            case ast.Name(id=name):
                return self._name(name)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse)
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                made = [self.value(one) for one in elts]
                return made if isinstance(node, ast.List) else tuple(made)
            case ast.Dict(keys=keys, values=values):
                if None in keys:
                    raise UnknownResult
                pairs = zip(keys, values, strict=True)
                return {self.value(key): self.value(one) for key, one in pairs if key is not None}
            case ast.BoolOp(op=op, values=values):
                found: object = None
                for one in values:
                    found = self.value(one)
                    if bool(found) is isinstance(op, ast.Or):
                        break
                return found
            case ast.UnaryOp(op=op, operand=operand):
                return self._operation(op, self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(op, self.value(left), self.value(right))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(self.value(left), ops, others)
            case ast.Subscript(value=owner, slice=key):
                return self._item(self.value(owner), key)
            case ast.ListComp(elt=elt, generators=[ast.comprehension() as loop]):
                return self._each(elt, loop)
            case ast.GeneratorExp(elt=elt, generators=[ast.comprehension() as loop]):
                return self._each(elt, loop)
            case ast.Call(func=func, args=args, keywords=[]):
                return self._called(func, args)
        raise UnknownResult

    def _name(self, name: str) -> object:
        found = self._names[name] if name in self._names else self._outer(name)
        if found is ... or found is type:
            raise UnknownResult
        return found

    def _operation(self, op: ast.AST, *values: object) -> object:
        if type(op) not in _OPERATIONS:
            raise UnknownResult
        return _OPERATIONS[type(op)](*values)

    def _compared(self, left: object, ops: list[ast.cmpop], others: list[ast.expr]) -> bool:
        for op, other in zip(ops, others, strict=True):
            # Of a set, whose order differs from run to run, only what is in it is known.
            right = [*map(self.value, other.elts)] if isinstance(other, ast.Set) else self.value(other)
            if isinstance(other, ast.Set) and not isinstance(op, ast.In | ast.NotIn):
                raise UnknownResult
            if not self._operation(op, left, right):
                return False
            left = right
        return True

    def _item(self, owner: object, key: ast.expr) -> object:
        if isinstance(owner, dict):
            return owner[self.value(key)]
        if not isinstance(owner, str | list | tuple):
            raise UnknownResult
        found: object
        if isinstance(key, ast.Slice):
            parts: list[Any] = [None if part is None else self.value(part) for part in (key.lower, key.upper, key.step)]
            found = owner[slice(*parts)]
        else:
            index: Any = self.value(key)
            found = owner[index]
        return found

    def _each(self, elt: ast.expr, loop: ast.comprehension) -> list[object]:
        many = self.value(loop.iter)
        if loop.is_async or not isinstance(many, str | list | tuple):
            raise UnknownResult
        made, before = [], dict(self._names)
        for one in many:
            self._bind(loop.target, one)
            if all(self.value(test) for test in loop.ifs):
                made.append(self.value(elt))
        self._names = before
        return made

    def _called(self, func: ast.expr, args: list[ast.expr]) -> object:
        match func:
            case ast.Name(id="map") if self._is_builtin("map") and len(args) == 2 and isinstance(args[0], ast.Name):
                many = self.value(args[1])
                function = self._function(args[0].id)
                if not isinstance(many, str | list | tuple):
                    raise UnknownResult
                return [function(one) for one in many]
            case ast.Name(id=name):
                return self._function(name)(*map(self.value, args))
            case ast.Attribute(value=owner, attr=name):
                text = self.value(owner)
                if not isinstance(text, str) or name not in _METHODS:
                    raise UnknownResult
                found: object = getattr(text, name)(*map(self.value, args))
                return found
        raise UnknownResult

    def _is_builtin(self, name: str) -> bool:
        return name not in self._names and self._outer(name) is type

    def _function(self, name: str) -> Callable[..., object]:
        if name not in _FUNCTIONS or not self._is_builtin(name):
            raise UnknownResult
        return _FUNCTIONS[name]

    def _bind(self, target: ast.expr, value: object) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, str | list | tuple):
            if any(isinstance(one, ast.Starred) for one in target.elts):
                raise UnknownResult
            if len(target.elts) != len(value):
                raise _Raised
            for one, part in zip(target.elts, value, strict=True):
                self._bind(one, part)
        else:
            raise UnknownResult
