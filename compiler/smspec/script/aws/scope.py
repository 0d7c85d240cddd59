"""The names of a module or function, and what is assigned to each anywhere in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from smspec.script.aws.objects import Foreign, Local, Meaning
from smspec.source import SourceText, Span

Bound = Union[ast.expr, Meaning, "OwnName", "Passed", "Loop"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class OwnName:
    """A name, or with an empty one the module itself, of another module of the source."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


class Passed:
    """An argument of a call, in the scope of the caller."""

    def __init__(self, node: ast.expr, scope: Scope) -> None:
        self.node = node
        self.scope = scope


class Loop:
    """An item of what a loop iterates over."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node


class Scope:
    """One scope. ``bound``: everything that is assigned to a name in it. ``calls`` are made in it."""

    def __init__(self, text: SourceText, outer: Scope | None, own: frozenset[str]) -> None:
        self.text = text
        self.outer = outer
        self.own = own
        self.bound: dict[str, list[Bound]] = {}
        self.calls: list[ast.Call] = []
        self.returns: list[ast.expr] = []
        self.inner: dict[ast.FunctionDef, Scope] = {}
        self.methods: dict[str, list[Local]] = outer.methods if outer is not None else {}
        self.attributes: dict[str, list[tuple[ast.expr, Scope]]] = outer.attributes if outer is not None else {}

    def all_scopes(self) -> Iterator[Scope]:
        """Yield this scope and all within it."""
        yield self
        for inner in self.inner.values():
            yield from inner.all_scopes()

    def place(self, node: ast.expr) -> Span:
        return Span(
            self.text.name,
            node.lineno,
            node.col_offset + 1,
            node.end_lineno or node.lineno,
            (node.end_col_offset or 0) + 1,
        )


def module_scope(text: SourceText, tree: ast.Module, own: frozenset[str]) -> Scope:
    """Return the scope of a module; ``own`` are the names of the modules of the source."""
    scope = Scope(text, None, own)
    _fill(scope, tree)
    return scope


def _fill(scope: Scope, node: ast.AST) -> None:
    is_class = isinstance(node, ast.ClassDef)
    for child in ast.iter_child_nodes(node):
        _bind(scope, child)
        if isinstance(child, ast.FunctionDef):
            inner = scope.inner[child] = Scope(scope.text, scope, scope.own)
            if is_class:
                is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in child.decorator_list)
                scope.methods.setdefault(child.name, []).append(Local(child, inner, not is_static))
            else:
                scope.bound.setdefault(child.name, []).append(Local(child, inner))
            _fill(inner, child)
        elif isinstance(child, _SCOPES):
            _fill(Scope(scope.text, scope, scope.own), child)
        else:
            _fill(scope, child)


def _bind(scope: Scope, node: ast.AST) -> None:
    match node:
        case ast.Import():
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                bound = OwnName(name, "") if name in scope.own else Foreign(name)
                scope.bound.setdefault(alias.asname or name, []).append(bound)
        case ast.ImportFrom():
            for alias in node.names:
                scope.bound.setdefault(alias.asname or alias.name, []).append(_imported(scope, node, alias.name))
        case ast.Assign():
            for target in node.targets:
                _assign(scope, target, node.value)
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            _assign(scope, node.target, value)
        case ast.withitem(optional_vars=ast.expr() as target):
            _assign(scope, target, node.context_expr)
        case ast.For(target=ast.Name(id=name)):
            scope.bound.setdefault(name, []).append(Loop(node.iter))
        case ast.Return(value=ast.expr() as value):
            scope.returns.append(value)
        case ast.Call():
            scope.calls.append(node)


def _imported(scope: Scope, node: ast.ImportFrom, name: str) -> Bound:
    module = node.module or ""
    if module in scope.own:
        return OwnName(module, name)
    if name in scope.own and (node.level or not module):
        return OwnName(name, "")
    return Foreign(f"{module}.{name}" if not node.level else f".{module}.{name}")


def _assign(scope: Scope, target: ast.expr, value: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            scope.bound.setdefault(name, []).append(value)
        case ast.Attribute(value=ast.Name(), attr=name):
            scope.attributes.setdefault(name, []).append((value, scope))
        case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and len(targets) == len(value.elts):
            for one, given in zip(targets, value.elts, strict=True):
                _assign(scope, one, given)
        case ast.Tuple(elts=targets):
            for one in targets:
                if isinstance(one, ast.Name):
                    scope.bound.setdefault(one.id, []).append(ast.Constant(value=None))
