"""Command lines of pairs, `key=value`: an option is read as a key without a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.script.argument_fault import Fault
from smspec.script.program import CommandLine
from smspec.script.script_environment import Argument


def faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[Fault]:
    """Yield each argument that is written as an option, with its value in the next word."""
    for argument in arguments:
        if len(argument.words) > 1 and argument.words[0].startswith("-") and "=" not in argument.words[0]:
            yield Fault(kind="pair", command_line=line, argument=argument)
