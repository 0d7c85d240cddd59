"""Classes of the script that extend those of argparse: parsers, and actions that read a config file.

The values of a config file replace those of earlier arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from smspec.script.follow.classes import PARSER_SUBCLASS, Class, Instance
from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Named, Value, constant
from smspec.script.readers.argument_parser import Parser

_SHOWS = frozenset({"format_help", "format_usage", "print_help", "print_usage"})
_METHODS = frozenset(
    {"add_argument", "add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "convert_arg_line_to_args"}
    | {"error", "exit", "get_default", "parse_intermixed_args", "parse_known_args", "parse_known_intermixed_args"}
    | {"register", "set_defaults"}
)
"""Methods that others of the parser call; a class may also define `parse_args`, which none of them calls."""

_READERS = frozenset({"open", "load", "safe_load", "full_load", "unsafe_load", "loads", "read", "read_text"})
_NAMESPACE = 2
"""The position of the namespace among the parameters of `argparse.Action.__call__`."""


class OwnParser(Instance):
    """A parser of the script's own class. ``created``: the call that creates it."""

    def __init__(self, kind: Class, created: Call) -> None:
        super().__init__(kind)
        self._created = created
        self._parser: Parser | None = None

    def escape(self) -> None:
        super().escape()
        if self._parser is not None:
            self._parser.escape()

    def begin(self, call: Call) -> Value:
        """Follow ArgumentParser's own `__init__`."""
        if self._parser is not None:
            self.escape()
            return call.unknown_result()
        self._parser = Parser(self._whole(call))
        if not call.is_certain or _changes_parsing(self.kind):
            self._parser.escape()
        return UNKNOWN

    def above(self, name: str, call: Call) -> Value:
        """Follow a method of ArgumentParser."""
        if name == "__init__":
            return self.begin(call)
        if self._parser is None:
            self.escape()
            return call.unknown_result()
        return self._parser.method(name, call)

    def attribute(self, name: str) -> Value:
        is_own = self.kind.function(name) is not None or name in self.kind.frame.names or name in self._attributes
        if is_own or self._parser is None:
            return super().attribute(name)
        return self._parser.attribute(name)

    def method(self, name: str, call: Call) -> Value:
        if self.kind.function(name) is None:
            return self.above(name, call)
        for value in (*call.arguments, *call.keywords.values()):
            call.hands_over_words(value)  # the method may pass them on by `*`
        return super().method(name, call)

    def set_attribute(self, name: str, value: Value) -> None:
        if self._parser is not None:
            self._parser.set_attribute(name, value)  # it may be one that argparse uses
        super().set_attribute(name, value)

    def _whole(self, call: Call) -> Call:
        """Return the call with what the script passes on by `**`, if that is exactly what the instance was given."""
        start = self.kind.function("__init__")
        hidden = [keyword.value for keyword in call.node.keywords if keyword.arg is None]
        if call.is_whole or start is None or not self._created.is_whole or len(hidden) != 1 or call.arguments:
            return call
        rest, (given,) = start.node.args.kwarg, hidden
        uses = [part for part in ast.walk(start.node) if isinstance(part, ast.Name) and rest and part.id == rest.arg]
        if uses != [given] or any(isinstance(argument, ast.Starred) for argument in call.node.args):
            return call
        own = {each.arg for each in (*start.node.args.args, *start.node.args.kwonlyargs)}
        passed = {name: value for name, value in self._created.keywords.items() if name not in own}
        written = {name: value for name, value in call.keywords.items() if name != "**"}
        return Call(call.run, call.node, call.arguments, {**passed, **written}, True)


def _changes_parsing(kind: Class) -> bool:
    """Return whether a class replaces what ArgumentParser calls while it parses."""
    names = {name for name in kind.frame.names if not (name.startswith("__") and name.endswith("__"))}
    changed = names & _METHODS or {name for name in names - _SHOWS if name.startswith("_")}
    return bool(changed) or any(isinstance(base, Class) and _changes_parsing(base) for base in kind.bases)


def _made(call: Call) -> Value:
    kind, *arguments = call.arguments
    assert isinstance(kind, Class)
    created = Call(call.run, call.node, tuple(arguments), call.keywords, call.is_whole)
    parser = OwnParser(kind, created)
    start = kind.function("__init__")
    if start is None:
        parser.begin(created)
    else:
        call.run.entered(start, created, (parser,))
    return parser


HANDLERS = {PARSER_SUBCLASS: _made}


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
