"""What may follow ``smspec`` on a command line: commands, their options, and what kind of word each one takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Literal

from smspec.source.frozen import dataclass

Kind = Literal["file", "directory", "overlays", "variables", "topics", "revision", "choice", "word"]

KINDS: dict[str, Kind] = {
    "CODE|KEY": "topics",
    "DIR": "directory",
    "EXE": "file",
    "FILE": "file",
    "FILE|NAME": "file",
    "OLD NEW | PATH": "file",
    "PATH": "file",
    "REV": "revision",
    "SPEC": "file",
    "vars.NAME=VALUE": "variables",
}
"""What a value is, by the word that stands for it in ``--help``; of any other word nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What an option or a position takes; ``choices`` are all that it can be."""

    kind: Kind
    shown: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``attached`` are words that may follow the name and ``=``, and only so. ``repeats``: may be given again."""

    names: tuple[str, ...]
    help: str
    value: Value | None
    attached: tuple[str, ...] = ()
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One command. ``position`` is what it takes beside its options, ``many`` whether more than one."""

    command: str
    summary: str
    options: tuple[Option, ...]
    position: Value | None
    many: bool


def grammars(commands: Mapping[str, tuple[str, str]]) -> tuple[Grammar, ...]:
    """Return the grammar of every command, as its parser has it; ``commands``: name → module and summary."""
    return tuple(_grammar(name, module, summary) for name, (module, summary) in commands.items())


def _grammar(name: str, module: str, summary: str) -> Grammar:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    import_module(module).add_arguments(parser)
    # argparse keeps them to itself, and has no other way to ask for them.
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
    # `--iam-policy=role` is the name of an option to argparse, and a value to whoever types it.
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
