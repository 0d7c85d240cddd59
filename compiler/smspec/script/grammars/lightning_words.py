"""How LightningCLI parses a command line: a command first, unless a config file sets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.script.argument_fault import Fault
from smspec.script.program import CommandLine
from smspec.script.script_environment import Argument

_OTHERS = ("--config", "-c", "--print_", "--help", "-h", "--version")
"""Options without a command, or with one in a file."""


def faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[Fault]:
    """Yield a missing command; the options of a command are not read."""
    words = [word for argument in arguments for word in argument.words]
    commands = {command.name for command in line.commands}
    if not any(word in commands or word.startswith(_OTHERS) for word in words):
        yield Fault(kind="missing", command_line=line, option=line.options[0])
