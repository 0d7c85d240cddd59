"""What the text of a script shows of its job: arguments with defaults, channels, metrics.

A default is written only if it reaches the script unchanged through JSON and a command line; a required argument is a
variable without one, because a made-up value would validate.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from smspec.scaffold.found_source import is_module
from smspec.script.printed_lines import Gap, printed_lines
from smspec.script.program import CommandLine, DeclaredOption, Program
from smspec.source import SourceText
from smspec.source.frozen import dataclass

CONTAINER = "/opt/ml/"
_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")
"""Where scripts put data that they download themselves."""

_LONGEST = 200
_MODEL = re.compile(r"(model|output|out|save|export)[_-]?(dir|path|directory|folder)|output|out")
_RESULTS = re.compile(r"\b(?:export|output|sav(?:e|ed|ing)|stored?|write|written)\b", re.IGNORECASE)
"""What the help of `--model` has if its value is a place for results: it usually is a name."""

_NEVER = ("help", "version")
State = Literal["set", "required", "left"]
DATA = "/opt/ml/input/data/"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

_DIRECTORY = re.compile(
    r"(?:(?:train|training|test|val|valid|validation|eval|input|image|img|dataset|data)[_-]?)+(dir|path|root|folder)?"
)
_LISTED = re.compile(r"\||(?:,[^,]+){2}")
_NAMES = re.compile(r"\b(?:one of|names?|types?|kind|either|which|mode|or)\b", re.IGNORECASE)
_PATHS = re.compile(r"\b(?:paths?|dir|directory|directories|folders?|root|location)\b", re.IGNORECASE)
"""What the help of an argument has whose value is one of several names, or a path."""

_USUAL_DATA = "data"
_NUMBER = re.compile(r"[-+ ]?\d*(\.\d+)?[eEfFgG]")

_NAMED = re.compile(
    r"(?:^|[\s,;|(\[])((?:[A-Za-z]+[_ ])?(?:loss|acc|accuracy|auc|f1|mae|mse|rmse|perplexity)(?: ?[:=] ?))\Z",
    re.IGNORECASE,
)

_MOST = 40
"""Metrics of one job, as SageMaker limits them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptArgument:
    """``key`` is its name as a hyperparameter; ``option`` None for a variable that stands for one.

    ``set``: ``value`` is the default. ``required``: the script fails without it. ``left``: the script's own default
    stays, because its value is unknown, or because the argument would change it. ``as_flags``: it needs
    `args_style: flags`.
    """

    key: str
    option: DeclaredOption
    state: State
    value: object = None
    as_flags: bool = False

    @property
    def is_positional(self) -> bool:
        return not self.option.names

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(map(str, self.option.choices or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptChannel:
    """``origin``: what in the script names it. ``local``: its data in the directory of the spec, if there are some."""

    name: str
    origin: str
    local: str | None = None

    @property
    def path(self) -> str:
        return f"{DATA}{self.name}"


def script_arguments(line: CommandLine) -> Iterator[ScriptArgument]:
    """Yield the arguments of a command line, each name once, in the order of their declaration."""
    seen: set[str] = set()
    for option in line.options:
        key = _key(option)
        if key is None or key in seen or option.label in _NEVER:
            continue
        seen.add(key)
        yield _argument(option, key)


def is_model_directory(argument: ScriptArgument) -> bool:
    """Return whether an argument is a directory for results, as its name shows, or its help."""
    name = argument.key.lower()
    if name == "model":
        return _RESULTS.search(argument.option.help) is not None
    return _MODEL.fullmatch(name) is not None


def _key(option: DeclaredOption) -> str | None:
    """Return the hyperparameter that becomes the option; None for an option with short names only."""
    if not option.names:
        return option.label.lower()
    return next((name[2:] for name in option.names if name.startswith("--") and len(name) > 3), None)


def _argument(option: DeclaredOption, key: str) -> ScriptArgument:
    if option.is_required:
        return ScriptArgument(key=key, option=option, state="required")
    if not option.names or option.exclusive is not None:
        return ScriptArgument(key=key, option=option, state="left")
    default = option.default
    if option.words == 0 and isinstance(default, bool):
        return ScriptArgument(key=key, option=option, state="set", value=default, as_flags=True)
    if isinstance(default, tuple) and (option.words in ("*", "+") or option.words == len(default) > 1):
        if default and all(_survives(option, item) for item in default):
            return ScriptArgument(key=key, option=option, state="set", value=list(default), as_flags=True)
    elif option.words in (1, "?") and _survives(option, default):
        return ScriptArgument(key=key, option=option, state="set", value=default)
    return ScriptArgument(key=key, option=option, state="left")


def _survives(option: DeclaredOption, value: object) -> bool:
    """Return whether a default, passed as a word, becomes the same value again."""
    if option.choices is not None and value not in option.choices:
        return False
    if isinstance(value, bool):
        return option.kind == "truth" and option.words == "?"
    if isinstance(value, int | float):
        kinds = ("float",) if isinstance(value, float) else ("int", "float")
        return math.isfinite(value) and option.kind in kinds
    if isinstance(value, str):
        return option.kind == "text" and _is_plain(value) and not value.startswith(CONTAINER)
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


def script_channels(
    program: Program, arguments: Sequence[ScriptArgument], directory: str
) -> tuple[list[ScriptChannel], dict[str, str]]:
    """Return the channels, and the path of one for each argument that names its data."""
    found: dict[str, str] = {}
    for read in program.channels:
        found.setdefault(read.name.lower() if read.by == "variable" else read.name, read.written)
    for argument in arguments:
        default = argument.option.default
        if isinstance(default, str) and default.startswith(DATA):
            found.setdefault(default.removeprefix(DATA).partition("/")[0], default)
    known = set(found)
    paths: dict[str, str] = {}
    local: dict[str, str] = {}
    names = {each.key for each in arguments if _is_compared(each, program.texts)}
    named = [each for each in arguments if _lacks_data(each) and each.key not in names and _names_data(each, arguments)]
    if not found and not named:
        # What a script checks itself is no required argument, but it cannot run without its data.
        unset = (each for each in arguments if each.option.default is None)
        named = [each for each in unset if _is_directory(each) and _is_path(each)][:1]
    for argument in arguments:
        data = _local_data(argument, arguments, directory)
        if argument.key not in known and (data or argument in named):
            name = re.sub("[^A-Za-z0-9._-]", "-", argument.key)
            found.setdefault(name, f"--{argument.key}")
            paths[argument.key] = f"{DATA}{name}"
            if data:
                local[name] = data
    channels = [
        ScriptChannel(name=name, origin=origin, local=local.get(name) or _data_of(name, len(found), directory))
        for name, origin in found.items()
        if _NAME.fullmatch(name)
    ]
    return channels, paths


def _lacks_data(argument: ScriptArgument) -> bool:
    """Return whether a container has no data for an argument: it is required, or has a path of another machine."""
    default = argument.option.default
    if argument.state == "required" or not _is_directory(argument):
        return argument.state == "required"
    return isinstance(default, str) and default.startswith("/") and not default.startswith((CONTAINER, *_SCRATCH))


def _names_data(argument: ScriptArgument, arguments: Sequence[ScriptArgument]) -> bool:
    """Return whether an argument is the path of data: not the name of a data set, next to which there may be one."""
    if not _is_path(argument) or _DIRECTORY.fullmatch(argument.key.lower()) is None:
        return False
    help_text = argument.option.help
    if _is_directory(argument) or _LISTED.search(help_text):
        return _is_directory(argument)
    may_be_name = argument.key.lower() in ("data", "dataset")
    has_other = may_be_name and any(_is_directory(each) and each is not argument for each in arguments)
    return _PATHS.search(help_text) is not None or not (_NAMES.search(help_text) or has_other)


def _is_compared(argument: ScriptArgument, texts: Iterable[SourceText]) -> bool:
    """Return whether the script compares the value of an argument with a name, as ``args.dataset == "mnist"``."""
    word = re.escape(argument.key.replace("-", "_"))
    compared = re.compile(
        rf"""\b\w+(?:\.{word}|\[["']{word}["']\])(?:\.lower\(\))?\s*(?:[=!]=|(?:not\s+)?in\b)\s*[\[({{]?\s*(["'])[\w.+-]+\1"""
    )
    return any(compared.search(text.text) for text in texts)


def _is_path(argument: ScriptArgument) -> bool:
    return argument.option.kind == "text" and argument.option.choices is None and argument.option.words in (1, "?")


def _is_directory(argument: ScriptArgument) -> bool:
    """Return whether the name of an argument is that of data, and of a directory."""
    named = _DIRECTORY.fullmatch(argument.key.lower())
    return named is not None and named[1] is not None


def _local_data(argument: ScriptArgument, arguments: Sequence[ScriptArgument], directory: str) -> str | None:
    """Return the directory here that is the default of an argument with the name of data."""
    default = argument.option.default
    if not _names_data(argument, arguments) or not isinstance(default, str) or not default or os.path.isabs(default):
        return None
    path = os.path.normpath(default)
    if path.startswith(os.pardir) or path == os.curdir:
        return None
    return f"{path}/" if os.path.isdir(os.path.join(directory, path)) else None


def _data_of(name: str, count: int, directory: str) -> str | None:
    """Return the data of a channel by the usual names: ``data/NAME``, or ``data`` for the only one."""
    usual: Iterable[str] = (f"{_USUAL_DATA}/{name}", _USUAL_DATA) if count == 1 else (f"{_USUAL_DATA}/{name}",)
    return next(
        (
            f"{path}/"
            for path in usual
            if os.path.isdir(os.path.join(directory, path)) and not is_module(directory, path)
        ),
        None,
    )


def printed_metrics(texts: Iterable[SourceText]) -> Iterator[tuple[str, str]]:
    """Yield (name, regular expression) of the metrics whose text precedes one printed value only."""
    places: Counter[str] = Counter()
    numeric: dict[str, None] = {}
    for text in texts:
        found = printed_lines(text)
        for line in found[0] if found else ():
            gaps = [part for part in line.parts if isinstance(part, Gap)]
            for before, gap in zip(line.before_values(), gaps, strict=False):
                named = _NAMED.search(before)
                if named and line.is_printed:
                    places[named[1]] += 1
                    if _NUMBER.fullmatch(gap.format):
                        numeric[named[1]] = None
    for before in list(numeric)[:_MOST]:
        # `loss: ` is also the end of `val loss: `, and two lines of one name may be two metrics.
        if sum(count for other, count in places.items() if other.endswith(before)) == 1:
            name = re.sub(r"[^A-Za-z0-9]+", "_", before).strip("_").lower()
            yield name, f"{re.escape(before).replace(chr(92) + ' ', ' ')}([0-9.eE+-]+)"
