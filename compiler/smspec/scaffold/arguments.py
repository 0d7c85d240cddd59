"""The arguments of a script as hyperparameters with the script's own defaults.

A default is written only if it reaches the script unchanged through JSON and a command line; a required argument is a
variable without one, because a made-up value would validate.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Literal

from smspec.script.program import CommandLine, Option
from smspec.source.frozen import dataclass

CONTAINER = "/opt/ml/"
_LONGEST = 200
_MODEL = re.compile(r"(model|output|out|save|export)[_-]?(dir|path|directory|folder)|output|out|model")
_PLAIN_WORD = re.compile(r"[A-Za-z./][\w./-]*")
_NEVER = ("help", "version")

State = Literal["set", "required", "left"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptArgument:
    """``key`` is its name as a hyperparameter; ``option`` None for a variable that stands for one.

    ``set``: ``value`` is the default. ``required``: the script fails without it. ``left``: the script's own default
    stays, because its value is unknown, or because the argument would change it. ``as_flags``: it needs
    `args_style: flags`.
    """

    key: str
    option: Option
    state: State
    value: object = None
    as_flags: bool = False

    @property
    def is_positional(self) -> bool:
        return not self.option.names

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(map(str, self.option.choices or ()))


def script_arguments(line: CommandLine) -> Iterator[ScriptArgument]:
    """Yield the arguments of a command line, each name once, in the order of their declaration."""
    seen: set[str] = set()
    for option in line.options:
        key = _key(option)
        if key is None or key in seen or option.label in _NEVER or option.loads_config:
            continue
        seen.add(key)
        yield _argument(option, key, line.grammar)


def is_model_directory(argument: ScriptArgument) -> bool:
    """Return whether the name of an argument is that of a directory for results."""
    return _MODEL.fullmatch(argument.key.lower()) is not None


def _key(option: Option) -> str | None:
    """Return the hyperparameter that becomes the option; None for an option with short names only."""
    if not option.names:
        return option.label.lower()
    return next((name[2:] for name in option.names if name.startswith("--") and len(name) > 3), None)


def _argument(option: Option, key: str, grammar: str) -> ScriptArgument:
    if option.is_required:
        return ScriptArgument(key=key, option=option, state="required")
    if not option.names or option.exclusive is not None:
        return ScriptArgument(key=key, option=option, state="left")
    default = option.default
    if option.words == 0 and isinstance(default, bool):
        return ScriptArgument(key=key, option=option, state="set", value=default, as_flags=True)
    if isinstance(default, tuple) and (option.words in ("*", "+") or option.words == len(default) > 1):
        if default and all(_survives(option, item, grammar) for item in default):
            return ScriptArgument(key=key, option=option, state="set", value=list(default), as_flags=True)
    elif option.words in (1, "?") and _survives(option, default, grammar):
        return ScriptArgument(key=key, option=option, state="set", value=default)
    return ScriptArgument(key=key, option=option, state="left")


def _survives(option: Option, value: object, grammar: str) -> bool:
    """Return whether a default, passed as a word, becomes the same value again."""
    if option.choices is not None and value not in option.choices:
        return False
    if isinstance(value, bool):
        return option.kind == "truth" and option.words == "?"
    if isinstance(value, int | float):
        below = option.lowest is not None and value < option.lowest
        above = option.highest is not None and value > option.highest
        if below or above or not math.isfinite(value):
            return False
        kinds = ("float", "float literal") if isinstance(value, float) else ("int", "int literal", "float")
        return option.kind in kinds or grammar == "fire"
    if isinstance(value, str):
        if option.kind == "text":
            return _is_plain(value) and not value.startswith(CONTAINER)
        return grammar == "fire" and bool(_PLAIN_WORD.fullmatch(value)) and value not in ("True", "False", "None")
    return False


def _is_plain(value: str) -> bool:
    """Return whether a string is the same for every reader on its way to the script."""
    if not value or len(value) > _LONGEST or value.startswith("-") or "${{" in value or not value.isprintable():
        return False
    try:
        json.loads(value)
    except ValueError:
        return True
    return False
