"""How click, absl, Fire, LightningCLI, and libraries of pairs parse a command line.

An option of click or typer consumes the words after it, whatever they look like. absl parses flags, `--name value` or
`--name=value`, up to the first other word. Fire reads `--name value`, `--name=value`, and a flag without a value for
true. LightningCLI wants a command first, unless a config file sets it. Where pairs are read, `key=value`, an option is
a key without a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.diagnostics.suggestions import nearest
from smspec.script.program import CommandLine, DeclaredOption
from smspec.script.script_environment import Argument, ArgumentFault, refusal

_FLAGS_OF_ABSL = frozenset(
    {
        "?",
        "help",
        "helpfull",
        "helpshort",
        "helpxml",
        "flagfile",
        "undefok",
        "run_with_pdb",
        "pdb_post_mortem",
        "pdb",
        "run_with_profiling",
        "profile_file",
        "use_cprofile_for_profiling",
        "only_check_args",
        "logtostderr",
        "alsologtostderr",
        "log_dir",
        "verbosity",
        "v",
        "logger_levels",
        "stderrthreshold",
        "showprefixforinfo",
    }
)
"""Flags of absl itself."""

_WITHOUT_COMMAND = ("--config", "-c", "--print_", "--help", "-h", "--version")
"""Options of LightningCLI without a command, or with one in a file."""


class _GrammarUnknown(Exception):
    """From here on it is unknown which word belongs to what."""


def _click_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield what a command would reject; stop at an option whose words are not understood."""
    found: list[ArgumentFault] = []
    free: list[tuple[Argument, DeclaredOption | None]] = []
    used: list[DeclaredOption] = []
    try:
        for argument in arguments:
            for fault in _of_click(line, argument, free, used):
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
            yield ArgumentFault(kind="missing", command_line=line, option=option)
    needed = [option for option in positionals if option.is_required]
    if needed and not free:
        yield ArgumentFault(kind="missing", command_line=line, option=needed[0])


def _of_click(
    line: CommandLine,
    argument: Argument,
    free: list[tuple[Argument, DeclaredOption | None]],
    used: list[DeclaredOption],
) -> Iterator[ArgumentFault]:
    rest = list(argument.words)
    flag: DeclaredOption | None = None
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
            yield ArgumentFault(kind="unknown", command_line=line, argument=argument, near=nearest(name, names))
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
            yield ArgumentFault(kind="refused", command_line=line, argument=argument, option=option, reason=reason)


def _superfluous(
    line: CommandLine, free: list[tuple[Argument, DeclaredOption | None]], room: int
) -> Iterator[ArgumentFault]:
    """Yield the values after flags or, if there are none, the excess words."""
    behind = [(argument, option) for argument, option in free if option is not None]
    for argument, option in behind or free[room:]:
        yield ArgumentFault(kind="alone" if option else "refused", command_line=line, argument=argument, option=option)


def _absl_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield what `app.run` would reject, and what it would not parse."""
    used: list[DeclaredOption] = []
    for index, argument in enumerate(arguments):
        if not argument.words:
            continue
        first, *rest = argument.words
        if not first.startswith("-") or first in ("-", "--"):
            break
        name, equals, value = first.lstrip("-").partition("=")
        if name in _FLAGS_OF_ABSL:
            return
        option = next((option for option in line.options if f"--{name}" in option.names), None)
        if option is None:
            if not line.is_complete:
                return  # whether it uses the next word is unknown
            names = [name for option in line.options for name in option.names]
            near = nearest(f"--{name}", names)
            yield ArgumentFault(kind="unknown", command_line=line, argument=argument, near=near)
            return
        used.append(option)
        if option.words == "unknown":
            return
        if option.words == 0 and not equals:
            if rest:
                yield from _after_flag(line, argument, option, index < len(arguments) - 1)
                break
            continue
        given = [value] if equals else rest
        if len(given) != 1:
            return
        why = refusal(option, given[0])
        if why is not None:
            reason = f"`{given[0]}` {why}"
            yield ArgumentFault(kind="refused", command_line=line, argument=argument, option=option, reason=reason)
    for option in line.options:
        if option.is_required and option not in used:
            yield ArgumentFault(kind="missing", command_line=line, option=option)


def _after_flag(
    line: CommandLine, argument: Argument, option: DeclaredOption, is_followed: bool
) -> Iterator[ArgumentFault]:
    """Yield the fault of a word after a flag that accepts no value."""
    if is_followed:
        yield ArgumentFault(kind="unread", command_line=line, argument=argument, option=option)
    elif argument.value is False:
        yield ArgumentFault(kind="truth", command_line=line, argument=argument, option=option)


def _fire_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
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
        yield ArgumentFault(kind="unknown", command_line=line, argument=argument, near=near)
    if unknown:
        return
    for name, option in options.items():
        if option.is_required and name not in given:
            yield ArgumentFault(kind="missing", command_line=line, option=option)


def _lightning_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield a missing command; the options of a command are not read."""
    words = [word for argument in arguments for word in argument.words]
    commands = {command.name for command in line.commands}
    if not any(word in commands or word.startswith(_WITHOUT_COMMAND) for word in words):
        yield ArgumentFault(kind="missing", command_line=line, option=line.options[0])


def _pair_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield each argument that is written as an option, with its value in the next word."""
    for argument in arguments:
        if len(argument.words) > 1 and argument.words[0].startswith("-") and "=" not in argument.words[0]:
            yield ArgumentFault(kind="pair", command_line=line, argument=argument)


FAULTS = {
    "click": _click_faults,
    "absl": _absl_faults,
    "fire": _fire_faults,
    "lightning": _lightning_faults,
    "pairs": _pair_faults,
}
"""Grammar → the function that yields what its parser would reject."""
