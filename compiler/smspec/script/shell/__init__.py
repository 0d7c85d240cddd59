"""Shell scripts: what they contain, and which failures they hide.

`grammar` reads a script into the values of this module, with `words` for what a word contains; `lost_statuses` follows
them. What is not understood raises `NotUnderstood`: then nothing is known of the script.
"""

from __future__ import annotations

from typing import Union

from smspec.source.frozen import dataclass


class NotUnderstood(Exception):
    """The script has a construct that is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellWord:
    """``text`` as written; ``value`` without quotes, None if an expansion decides it. ``scripts``: substitutions."""

    text: str
    value: str | None = None
    scripts: tuple[tuple[AndOrList, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """``assigned``: the words before the command. ``line`` and ``last_line``: of its first and last word."""

    assigned: tuple[ShellWord, ...]
    words: tuple[ShellWord, ...]
    redirected: tuple[ShellWord, ...]
    line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound:
    """``kind``: `group`, `subshell`, `test`, `if`, `while`, `until`, `for`, or `case`.

    ``parts``: of `if`, conditions and bodies in turn, the last one may have no condition; of `while` and `until`, the
    condition and the body; of `case`, the bodies. ``words``: what `for` goes through, None if that is unknown, and
    ``variable``: its name.
    """

    kind: str
    parts: tuple[tuple[AndOrList, ...], ...] = ()
    words: tuple[ShellWord, ...] | None = None
    expanded: tuple[ShellWord, ...] = ()
    is_exhaustive: bool = False
    variable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellFunction:
    name: str
    body: Compound


Command = Union[Simple, Compound, ShellFunction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    commands: tuple[Command, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AndOrList:
    """An AND-OR list: ``operators`` are between its pipelines."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    is_background: bool = False


def simple_commands(items: tuple[AndOrList, ...]) -> list[Simple]:
    """Return all simple commands, those of functions included, in the order of the text."""
    found: list[Simple] = []
    for command in (command for item in items for pipeline in item.pipelines for command in pipeline.commands):
        if isinstance(command, ShellFunction):
            command = command.body
        if isinstance(command, Simple):
            found.append(command)
            words = (*command.assigned, *command.words, *command.redirected)
            inner = [script for word in words for script in word.scripts]
        else:
            inner = [*(script for word in command.expanded for script in word.scripts), *command.parts]
        found += [one for script in inner for one in simple_commands(script)]
    return found
