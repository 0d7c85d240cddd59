"""How Fire parses a command line: `--name value`, `--name=value`, and a flag without a value for true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.diagnostics.suggestions import nearest
from smspec.script.argument_fault import Fault
from smspec.script.program import CommandLine
from smspec.script.script_environment import Argument


def faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[Fault]:
    """Yield unknown and missing options; nothing for a command line with words that are not options."""
    options = {option.label: option for option in line.options}
    is_complete = line.is_complete
    command = next((one for one in line.commands if arguments and arguments[0].words == (one.name,)), None)
    if command is not None:
        if options.keys() & {option.label for option in command.options}:
            return  # which of both gets the value depends on the order
        options |= {option.label: option for option in command.options}
        is_complete, arguments = is_complete and command.is_complete, arguments[1:]
    given: set[str] = set()
    unknown: list[Argument] = []
    for argument in arguments:
        first, *rest = argument.words or ("",)
        name = first.removeprefix("--").partition("=")[0].replace("-", "_")
        if not first.startswith("--") or len(name) < 2 or len(rest) > 1 or any(word[:1] == "-" for word in rest):
            return  # positional, abbreviated, or an option of Fire itself
        if name in options:
            given.add(name)
        elif name in ("help", "interactive", "separator", "trace", "verbose", "completion"):
            return
        elif name.startswith("no") and name[2:] in options:
            given.add(name[2:])
        else:
            unknown.append(argument)
    for argument in unknown if is_complete else ():
        near = nearest(argument.words[0], [f"--{name}" for name in options])
        yield Fault(kind="unknown", command_line=line, argument=argument, near=near)
    if unknown:
        return
    for name, option in options.items():
        if option.is_required and name not in given:
            yield Fault(kind="missing", command_line=line, option=option)
