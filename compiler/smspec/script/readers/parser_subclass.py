"""Classes of the script that extend ArgumentParser."""

from __future__ import annotations

import ast

from smspec.script.follow.classes import PARSER_SUBCLASS, Class, Instance
from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Value
from smspec.script.readers.argument_parser import Parser

_SHOWS = frozenset({"format_help", "format_usage", "print_help", "print_usage"})
_METHODS = frozenset(
    {"add_argument", "add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "convert_arg_line_to_args"}
    | {"error", "exit", "get_default", "parse_intermixed_args", "parse_known_args", "parse_known_intermixed_args"}
    | {"register", "set_defaults"}
)
"""Methods that others of the parser call; a class may also define `parse_args`, which none of them calls."""


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
