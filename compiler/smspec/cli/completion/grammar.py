"""The grammar of ``smspec`` command lines: commands, their options, and the kind of each value."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Literal

from smspec.source.frozen import dataclass

Kind = Literal[
    "file", "directory", "overlays", "variables", "channels", "changes", "topics", "revision", "choice", "word"
]

KINDS: dict[str, Kind] = {
    "CH=PATH": "channels",
    "CODE|KEY": "topics",
    "DIR": "directory",
    "EXE": "file",
    "FILE": "file",
    "FILE|NAME": "file",
    "KIND,…": "changes",
    "NAME|SPEC": "file",
    "NAME|SPEC|RUNDIR": "file",
    "OLD NEW | PATH": "file",
    "PATH": "file",
    "REV": "revision",
    "SPEC": "file",
    "vars.NAME=VALUE": "variables",
}
"""The kind of a value by its metavar in ``--help``; any other value has no completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The value of an option or a position; ``choices`` are all possible values."""

    kind: Kind
    shown: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``attached`` are words that can follow the name only after ``=``. ``repeats``: can be repeated."""

    names: tuple[str, ...]
    help: str
    value: Value | None
    attached: tuple[str, ...] = ()
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One command. ``position`` is its positional argument, ``many`` whether there may be several."""

    command: str
    summary: str
    options: tuple[Option, ...]
    position: Value | None
    many: bool


def grammars(commands: Mapping[str, tuple[str, str]]) -> tuple[Grammar, ...]:
    """Return the grammar of every command from its parser; ``commands``: name → module and summary."""
    return tuple(_grammar(name, module, summary) for name, (module, summary) in commands.items())


def _grammar(name: str, module: str, summary: str) -> Grammar:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    import_module(module).add_arguments(parser)
    # argparse has no public access to them.
    actions = parser._actions
    positions = [action for action in actions if not action.option_strings]
    return Grammar(
        command=name,
        summary=summary,
        options=tuple(_options(actions)),
        position=_value(positions[0]) if positions else None,
        many=any(position.nargs in ("*", "+") for position in positions),
    )


def _options(actions: list[argparse.Action]) -> Iterator[Option]:
    # `--iam-policy=role` is an option name for argparse, but a value for the user.
    attached: dict[str, list[str]] = {}
    for action in actions:
        for name, _, value in (spelling.partition("=") for spelling in action.option_strings if "=" in spelling):
            attached.setdefault(name, []).append(value)
    for action in actions:
        names = tuple(spelling for spelling in action.option_strings if "=" not in spelling)
        if names:
            yield Option(
                names=names,
                help=" ".join((action.help or "").replace("%%", "%").split()),
                value=None if action.nargs == 0 else _value(action),
                attached=tuple(value for name in names for value in attached.get(name, ())),
                repeats=isinstance(action, argparse._AppendAction),
            )


def _value(action: argparse.Action) -> Value:
    shown = action.metavar if isinstance(action.metavar, str) else action.dest
    if action.choices is not None:
        return Value(kind="choice", shown=shown, choices=tuple(map(str, action.choices)))
    kind = "overlays" if action.dest == "overlay" else KINDS.get(shown, "word")
    return Value(kind=kind, shown=shown)
