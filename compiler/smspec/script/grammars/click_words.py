"""How click and typer parse a command line: an option consumes the words after it, whatever they look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.diagnostics.suggestions import nearest
from smspec.script.argument_fault import Fault
from smspec.script.program import CommandLine, Option
from smspec.script.script_environment import Argument
from smspec.script.word_conversion import refusal


class _GrammarUnknown(Exception):
    """From here on it is unknown which word belongs to what."""


def faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[Fault]:
    """Yield what a command would reject; stop at an option whose words are not understood."""
    found: list[Fault] = []
    free: list[tuple[Argument, Option | None]] = []
    used: list[Option] = []
    try:
        for argument in arguments:
            for fault in _faults(line, argument, free, used):
                found.append(fault)
    except _GrammarUnknown:
        yield from (fault for fault in found if fault.kind == "unknown")
        return
    positionals = [option for option in line.options if not option.names]
    if all(isinstance(option.words, int) for option in positionals):
        room = sum(option.words for option in positionals if isinstance(option.words, int))
        if len(free) > room:
            found += _superfluous(line, free, room)
    # Of a repeated option the last value counts, or all of them; this is not checked.
    yield from (
        fault for fault in found if fault.kind != "refused" or fault.option is None or used.count(fault.option) < 2
    )
    for option in line.options:
        if option.is_required and option.names and option not in used:
            yield Fault(kind="missing", command_line=line, option=option)
    needed = [option for option in positionals if option.is_required]
    if needed and not free:
        yield Fault(kind="missing", command_line=line, option=needed[0])


def _faults(
    line: CommandLine, argument: Argument, free: list[tuple[Argument, Option | None]], used: list[Option]
) -> Iterator[Fault]:
    rest = list(argument.words)
    flag: Option | None = None
    while rest:
        word = rest.pop(0)
        if word == "--":
            raise _GrammarUnknown
        if not word.startswith("-") or word == "-":
            free.append((argument, flag))
            continue
        name, equals, value = word.partition("=")
        option = next((option for option in line.options if name in option.names), None)
        if option is None and not word.startswith("--") and len(word) > 2:
            raise _GrammarUnknown  # short options in one word
        if option is None:
            names = [name for option in line.options for name in option.names]
            yield Fault(kind="unknown", command_line=line, argument=argument, near=nearest(name, names))
            return
        used.append(option)
        if not isinstance(option.words, int):
            raise _GrammarUnknown
        taken = [value] if equals else rest[: option.words]
        if equals and option.words == 0:
            raise _GrammarUnknown
        flag = option if option.words == 0 else None
        if len(taken) < option.words:
            raise _GrammarUnknown  # it consumes the next words, which are meant for another option
        rest = rest if equals else rest[option.words :]
        reason = next((f"`{one}` {why}" for one in taken if one and (why := refusal(option, one))), None)
        if reason is not None:
            yield Fault(kind="refused", command_line=line, argument=argument, option=option, reason=reason)


def _superfluous(line: CommandLine, free: list[tuple[Argument, Option | None]], room: int) -> Iterator[Fault]:
    """Yield the values after flags or, if there are none, the excess words."""
    behind = [(argument, option) for argument, option in free if option is not None]
    for argument, option in behind or free[room:]:
        yield Fault(kind="alone" if option else "refused", command_line=line, argument=argument, option=option)
