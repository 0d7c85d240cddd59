"""Actions of argparse and jsonargparse that read a config file, whose values replace those of earlier arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from smspec.script.classes import Class
from smspec.script.external_names import Named
from smspec.script.values import Value, constant

_READERS = frozenset({"open", "load", "safe_load", "full_load", "unsafe_load", "loads", "read", "read_text"})
_NAMESPACE = 2
"""The position of the namespace among the parameters of `argparse.Action.__call__`."""


def loads_config(action: Value | None, library: str) -> bool:
    """Return whether an action certainly sets arguments to the values of a file."""
    if library == "jsonargparse":
        known = isinstance(action, Named) and action.name == "jsonargparse.ActionConfigFile"
        return known or (action is not None and constant(action) == "config")
    return isinstance(action, Class) and _replaces_arguments(action.node)


def _replaces_arguments(node: ast.ClassDef) -> bool:
    call = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__call__"), None)
    if call is None or len(call.args.args) <= _NAMESPACE:
        return False
    namespace = call.args.args[_NAMESPACE].arg
    calls = [each for each in ast.walk(call) if isinstance(each, ast.Call)]
    if not any(_called(each) in _READERS for each in calls):
        return False
    return any(_sets_arguments(each, namespace) for each in _unconditional_calls(call.body))


def _unconditional_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls in statements, except below a condition: that may keep the values of earlier arguments."""
    for statement in statements:
        if isinstance(statement, (ast.For, ast.With, ast.Try)):
            yield from _unconditional_calls(statement.body)
        if isinstance(statement, ast.With):
            statement = ast.Expr(ast.Tuple([item.context_expr for item in statement.items], ast.Load()))
        if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)):
            yield from (each for each in ast.walk(statement) if isinstance(each, ast.Call))


def _sets_arguments(call: ast.Call, namespace: str) -> bool:
    match _called(call), call.args:
        case "setattr", [ast.Name(id=name), key, _]:
            return name == namespace and isinstance(key, ast.Name)
        case "parse_args" | "parse_known_args", [_, ast.Name(id=name)]:
            return name == namespace
        case "parse_args" | "parse_known_args", _:
            values = [each.value for each in call.keywords if each.arg == "namespace"]
            return any(isinstance(value, ast.Name) and value.id == namespace for value in values)
        case "update", _:
            return isinstance(call.func, ast.Attribute) and _is_dictionary(call.func.value, namespace)
    return False


def _is_dictionary(node: ast.expr, namespace: str) -> bool:
    """Return whether a node is ``vars(namespace)`` or ``namespace.__dict__``."""
    match node:
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=name)]):
            return name == namespace
        case ast.Attribute(value=ast.Name(id=name), attr="__dict__"):
            return name == namespace
    return False


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
