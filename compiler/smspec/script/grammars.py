"""What the parser of a script would reject of its arguments: a copy of it is made from what is known of it, and run."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from smspec.diagnostics.suggestions import nearest
from smspec.script.program import CommandLine, DeclaredOption, Program
from smspec.script.script_environment import Argument, ArgumentFault, ScriptEnvironment, checked, refusal
from smspec.source.frozen import ByIdentity, replace


def faults_of(program: Program, environment: ScriptEnvironment) -> Iterator[ArgumentFault]:
    """Yield what the parsers of a script would reject of the arguments of a job."""
    arguments = environment.arguments
    if arguments is None:
        return
    for line in program.command_lines:
        if line.not_for_one_word and len(environment.words) == 1:
            continue
        yield from _faults(line, arguments)


class _ArgumentsRejected(Exception):
    pass


class _ProgramExited(Exception):
    """An action that ends the program, such as help."""


class _Twin(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _ArgumentsRejected(message)


class _Ends(argparse.Action):
    def __call__(self, *_: object, **__: object) -> None:
        raise _ProgramExited


def _faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield what a parser would reject, and that of the sub-command to which it hands the arguments after its name."""
    commands = dict(line.commands)
    arguments = [part for one in arguments for part in _parted(line, one, commands)]
    at = next((index for index, one in enumerate(arguments) if one.words[:1] and one.words[0] in commands), None)
    if at is None:
        if not any(word in commands for one in arguments for word in one.words):
            yield from _without_command(line, arguments) if commands else _argparse_faults(line, arguments)
        return
    yield from _argparse_faults(line, arguments[: at + 1])
    command = commands[arguments[at].words[0]]
    if command is not None and len(arguments[at].words) == 1:
        yield from _faults(command, arguments[at + 1 :])


def _parted(line: CommandLine, argument: Argument, commands: Container[str]) -> tuple[Argument, ...]:
    """Return an argument; without the name of a sub-command after the words of its option, which is one of its own."""
    is_written = commands and argument.words and argument.hyperparameter is None
    option, _ = _option(line, argument.words[0]) if is_written else (None, [])
    if option is None or not isinstance(option.words, int) or len(argument.words) != option.words + 2:
        return (argument,)
    *words, last = argument.words
    return (replace(argument, words=tuple(words)), replace(argument, words=(last,)))


def _without_command(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield the faults of arguments without the name of a sub-command: other faults follow from a wrong one."""
    option, *others = [option for option in line.options if not option.names]
    at = next((at for at, one in enumerate(arguments) if _has_no_option(one)), None)
    if others or not (option.is_required or (at is not None and _is_wrong_command(line, option, arguments))):
        yield from _argparse_faults(line, arguments)
    elif at is None:
        yield ArgumentFault(kind="missing", command_line=line, option=option)
    else:
        if not option.is_required:
            yield from filter(None, (_fault(line, one) for one in arguments[:at]))
        yield _refused(line, arguments[at], option, arguments[at].words)


def _has_no_option(argument: Argument) -> bool:
    return argument.hyperparameter is None and not argument.words[0].startswith("-")


def _is_wrong_command(line: CommandLine, option: DeclaredOption, arguments: Sequence[Argument]) -> bool:
    message = _refusal(line, [word for argument in arguments for word in argument.words]) or ""
    return message.startswith(f"argument {option.label}: invalid choice: ")


def _argparse_faults(line: CommandLine, arguments: Sequence[Argument]) -> Iterator[ArgumentFault]:
    """Yield what a script's parser would reject; nothing if the copy accepts the whole command line."""
    for argument in arguments:
        yield from _untrue(line, argument)
    words = [word for argument in arguments for word in argument.words]
    if _refusal(line, words) is None:
        return
    sound: list[str] = []
    given: list[DeclaredOption] = []
    for argument in arguments:
        fault = _fault(line, argument)
        if fault is None:
            sound += argument.words
        else:
            given += [] if fault.option is None else [fault.option]
            yield fault
    message = _refusal(line, sound)
    if message is None:
        return
    _, found, names = message.partition("arguments are required: ")
    if found:
        for name in names.split(", "):
            option = next((o for o in line.options if name in ("/".join(o.names), o.label)), None)
            if option is not None and option not in given:
                yield ArgumentFault(kind="missing", command_line=line, option=option)
    elif message.startswith("one of the arguments ") and message.endswith(" is required"):
        names = message.removeprefix("one of the arguments ").removesuffix(" is required")
        if all(option.exclusive is None for option in given):
            yield ArgumentFault(
                kind="missing", command_line=line, reason=", ".join(f"`{name}`" for name in names.split())
            )
    elif ": not allowed with argument " in message:
        yield _clash(line, arguments, message)
    else:
        yield from _misplaced(line, arguments, message)


def accepts(line: CommandLine, words: Sequence[str]) -> bool:
    """Return whether a parser takes an option with these words, whatever else it requires."""
    return _refusal(line, words, alone=True) is None


def _refusal(line: CommandLine, words: Sequence[str], *, alone: bool = False) -> str | None:
    """Return the error of the copy for a command line, or None; ``alone``: nothing is required."""
    try:
        twin = _TWINS.of(alone, line, partial(_twin, line, alone))
        if line.is_complete:
            twin.parse_args(list(words))
        else:
            twin.parse_known_args(list(words))
    except _ArgumentsRejected as refused:
        return str(refused)
    except (_ProgramExited, argparse.ArgumentError, ValueError, TypeError, IndexError, AssertionError):
        return None  # a parser that cannot be created is not understood
    return None


_TWINS: ByIdentity[argparse.ArgumentParser] = ByIdentity()  # jobs share scripts


def _twin(line: CommandLine, alone: bool) -> argparse.ArgumentParser:
    twin = _Twin(
        prog="program",
        add_help=False,
        allow_abbrev=line.abbreviates,
        conflict_handler="resolve",
        formatter_class=partial(argparse.HelpFormatter, width=80),  # else argparse asks for the terminal width
    )
    groups: dict[int, Any] = {}
    for option in line.options:
        target: Any = twin
        if option.exclusive is not None and not alone:
            number = option.exclusive
            if number not in groups:
                groups[number] = twin.add_mutually_exclusive_group(required=number in line.required_groups)
            target = groups[number]
        words = {"required": option.is_required and not alone} if option.names else {}
        added = target.add_argument(*(option.names or (option.label,)), **words, **_ways(option))
        if alone or option.words == "A...":
            added.required = option.is_required and not alone
    return twin


def _ways(option: DeclaredOption) -> dict[str, Any]:
    """Return the keyword arguments of an option for argparse; an unknown one accepts whatever follows it."""
    if option.words == 0:
        return {"action": "store_true"}
    if option.label == "help" and option.words == "unknown":
        return {"action": _Ends, "nargs": 0}
    ways: dict[str, Any] = {"type": partial(checked, option)}
    if option.words == "unknown":
        ways["nargs"] = "*" if option.names else argparse.REMAINDER
    elif option.words != 1:
        ways["nargs"] = option.words
    if option.choices is not None:
        ways["choices"] = option.choices
    return ways


def _fault(line: CommandLine, argument: Argument) -> ArgumentFault | None:
    """Return the fault of one argument by itself, or None if the copy accepts it."""
    if _refusal(line, argument.words, alone=True) is None:
        return None
    first, *rest = argument.words
    option, among = _option(line, first)
    if option is None:
        if among:
            return ArgumentFault(
                kind="unknown", command_line=line, argument=argument, reason="could be " + " or ".join(among)
            )
        if not first.startswith("-") or not line.is_complete:
            return None if argument.hyperparameter is None else _refused(line, argument, None, rest)
        names = [name for option in line.options for name in option.names]
        return ArgumentFault(kind="unknown", command_line=line, argument=argument, near=nearest(first, names))
    if option.words == 0 and rest:
        return ArgumentFault(kind="alone", command_line=line, argument=argument, option=option)
    return _refused(line, argument, option, rest)


def _refused(
    line: CommandLine, argument: Argument, option: DeclaredOption | None, rest: Sequence[str]
) -> ArgumentFault:
    reason = ""
    if option is not None:
        reason = next((f"`{word}` {why}" for word in rest if (why := refusal(option, word)) is not None), "")
        if not reason and any(word.startswith("-") for word in rest):
            reason = "a value that begins with `-` looks like an option"
    return ArgumentFault(kind="refused", command_line=line, argument=argument, option=option, reason=reason)


def _option(line: CommandLine, word: str) -> tuple[DeclaredOption | None, list[str]]:
    """Return the option for a word, by its full name or a prefix; else the possible names."""
    name = word.partition("=")[0]
    for option in line.options:
        if name in option.names:
            return option, []
    begun = {full: o for o in line.options for full in o.names if full.startswith(name)} if name[:2] == "--" else {}
    if line.abbreviates and len({id(option) for option in begun.values()}) == 1:
        return next(iter(begun.values())), []
    return None, sorted(begun) if line.abbreviates else []


def _untrue(line: CommandLine, argument: Argument) -> Iterator[ArgumentFault]:
    """Yield a word for false that ``type=bool`` converts to true, like every non-empty string."""
    option, _ = _option(line, argument.words[0]) if argument.words else (None, [])
    is_false = argument.value is False or (
        isinstance(argument.value, str) and argument.value.lower() in ("false", "no")
    )
    if option is not None and option.kind == "bool()" and option.words == 1 and is_false and len(argument.words) == 2:
        yield ArgumentFault(kind="truth", command_line=line, argument=argument, option=option)


def _misplaced(line: CommandLine, arguments: Sequence[Argument], message: str) -> Iterator[ArgumentFault]:
    """Yield the fault of an argument without an option: what the parser expects at its position decides."""
    places = [option for option in line.options if not option.names]
    given = [one for one in arguments if _has_no_option(one)]
    if any(option.words != 1 for option in places) or any(len(one.words) != 1 for one in given):
        return
    for option, argument in zip(places, given, strict=False):
        if message.startswith(f"argument {option.label}: ") and refusal(option, argument.words[0]) is not None:
            yield _refused(line, argument, option, argument.words)
    for argument in given[len(places) :]:
        if message.startswith("unrecognized arguments: "):
            yield ArgumentFault(kind="unknown", command_line=line, argument=argument)


def _clash(line: CommandLine, arguments: Sequence[Argument], message: str) -> ArgumentFault:
    names = message.removeprefix("argument ").partition(": ")[0].split("/")
    hit = next((a for a in arguments if a.words and (o := _option(line, a.words[0])[0]) and names[0] in o.names), None)
    other = message.rpartition(" ")[2]
    return ArgumentFault(kind="clash", command_line=line, argument=hit, reason=f"`{names[0]}` and `{other}`")
