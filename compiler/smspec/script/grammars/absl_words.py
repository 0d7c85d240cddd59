"""How absl parses a command line: flags, `--name value` or `--name=value`, up to the first other word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.diagnostics.suggestions import nearest
from smspec.script.argument_fault import Fault
from smspec.script.program import CommandLine, Option
from smspec.script.script_environment import Argument
from smspec.script.word_conversion import refusal

_OWN = frozenset(
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


def faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[Fault]:
    """Yield what `app.run` would reject, and what it would not parse."""
    used: list[Option] = []
    for index, argument in enumerate(arguments):
        if not argument.words:
            continue
        first, *rest = argument.words
        if not first.startswith("-") or first in ("-", "--"):
            break
        name, equals, value = first.lstrip("-").partition("=")
        if name in _OWN:
            return
        option = next((option for option in line.options if f"--{name}" in option.names), None)
        if option is None:
            if not line.is_complete:
                return  # whether it uses the next word is unknown
            names = [name for option in line.options for name in option.names]
            near = nearest(f"--{name}", names)
            yield Fault(kind="unknown", command_line=line, argument=argument, near=near)
            return
        used.append(option)
        if option.words == "unknown":
            return
        if option.words == 0 and not equals:
            if rest:
                yield from _behind(line, argument, option, index < len(arguments) - 1)
                break
            continue
        given = [value] if equals else rest
        if len(given) != 1:
            return
        why = refusal(option, given[0])
        if why is not None:
            reason = f"`{given[0]}` {why}"
            yield Fault(kind="refused", command_line=line, argument=argument, option=option, reason=reason)
    for option in line.options:
        if option.is_required and option not in used:
            yield Fault(kind="missing", command_line=line, option=option)


def _behind(line: CommandLine, argument: Argument, option: Option, is_followed: bool) -> Iterator[Fault]:
    """Yield the fault of a word after a flag that accepts no value."""
    if is_followed:
        yield Fault(kind="unread", command_line=line, argument=argument, option=option)
    elif argument.value is False:
        yield Fault(kind="truth", command_line=line, argument=argument, option=option)
