"""What the parser of a script would reject of its arguments, by the grammar of its library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smspec.script.program import CommandLine, Kind, Option, Program
from smspec.script.script_environment import Argument, ScriptEnvironment
from smspec.source.frozen import dataclass

FaultKind = Literal["unknown", "missing", "refused", "alone", "truth", "clash", "unread", "pair"]
"""``alone``: a flag accepts no value. ``truth``: a string that becomes true. ``unread``: what follows is not parsed.
``pair``: an option where pairs are read."""

_TRUTHS = frozenset({"1", "0", "true", "false", "t", "f", "yes", "no", "y", "n", "on", "off"})
_NEITHER = "is neither true nor false"
_REASONS = {
    "int": "is not an integer",
    "float": "is not a number",
    "json": "is not JSON",
    "literal": "is not a literal of Python",
    "pair": "is not an override `key=value`",
}
_SHOWN = 8
"""How many choices a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """``argument`` None: it is missing. ``reason`` ends a sentence; ``near`` is a similar valid name or value."""

    kind: FaultKind
    command_line: CommandLine
    argument: Argument | None = None
    option: Option | None = None
    reason: str = ""
    near: str | None = None


def faults_of(program: Program, environment: ScriptEnvironment) -> Iterator[Fault]:
    """Yield what the parsers of a script would reject of the arguments of a job."""
    arguments = environment.arguments
    if arguments is None:
        return
    for line in program.command_lines:
        if line.not_for_one_word and len(environment.words) == 1:
            continue
        # Imported late: most scripts use one library, and only argparse is loaded anyway.
        match line.grammar:
            case "argparse":
                from smspec.script.grammars.argparse_words import faults
            case "click":
                from smspec.script.grammars.library_words import click_faults as faults
            case "absl":
                from smspec.script.grammars.library_words import absl_faults as faults
            case "fire":
                from smspec.script.grammars.library_words import fire_faults as faults
            case "lightning":
                from smspec.script.grammars.library_words import lightning_faults as faults
            case "pairs":
                from smspec.script.grammars.library_words import pair_faults as faults
        yield from faults(line, arguments)


def converted(kind: Kind, word: str) -> object:
    """Return the converted word. Raise ValueError if it is rejected."""
    match kind:
        case "int":
            return int(word)
        case "int literal":
            return word if ":" in word else int(word, 10 if word.strip("-+0_").isdigit() else 0)
        case "float":
            return float(word)
        case "float literal":
            return word if word[:1] == "." or set(word) & set("xo:") else float(word)
        case "bool()":
            return bool(word)
        case "json":
            return _loaded(word)
        case "literal":
            return _literal(word)
        case "pair" if "=" not in word and not word.startswith("~"):
            raise ValueError(word)
        case "truth":
            if word.strip().lower() not in _TRUTHS:
                raise ValueError(word)
    return word


def _loaded(word: str) -> object:
    import json  # imported late, as below: few options have such a type

    try:
        return json.loads(word)
    except RecursionError:
        return word


def _literal(word: str) -> object:
    import ast

    try:
        return ast.literal_eval(word)
    except (RecursionError, MemoryError):
        return word
    except (SyntaxError, TypeError) as fault:
        raise ValueError(word) from fault


def refusal(option: Option, word: str) -> str | None:
    """Return why an option rejects a word, or None if it accepts it."""
    try:
        value = converted(option.kind, word)
    except (ValueError, OverflowError):
        return _REASONS.get(option.kind.partition(" ")[0], _NEITHER)
    if option.choices is not None:
        taken = {str(choice).lower() for choice in option.choices} if option.ignores_case else option.choices
        if (str(value).lower() if option.ignores_case else value) not in taken:
            return "is not one of " + listed(option.choices)
    if isinstance(value, int | float) and option.kind.startswith(("int", "float")):
        if option.lowest is not None and value < option.lowest:
            return f"is below {option.lowest:g}"
        if option.highest is not None and value > option.highest:
            return f"is above {option.highest:g}"
    return None


def listed(choices: tuple[object, ...]) -> str:
    """Return some choices for a message."""
    shown = [f"`{choice}`" for choice in choices[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else "")
