"""The channels of a script: by variables, by paths, and by arguments that name data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from smspec.scaffold.arguments import ScriptArgument
from smspec.script.program import Program
from smspec.source.frozen import dataclass

DATA = "/opt/ml/input/data/"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DIRECTORY = re.compile(
    r"((train|training|test|val|valid|validation|eval|input|image|img|dataset|data)[_-]?)+(dir|path|root|folder)?"
)
_USUAL_DATA = "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptChannel:
    """``origin``: what in the script names it. ``local``: its data in the directory of the spec, if there are some."""

    name: str
    origin: str
    local: str | None = None

    @property
    def path(self) -> str:
        return f"{DATA}{self.name}"


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
    for argument in arguments:
        data = _local_data(argument, directory)
        if argument.key not in known and (data or (argument.state == "required" and _names_data(argument))):
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


def _names_data(argument: ScriptArgument) -> bool:
    is_text = argument.option.kind == "text" and argument.option.choices is None and argument.option.words in (1, "?")
    return is_text and _DIRECTORY.fullmatch(argument.key.lower()) is not None


def _local_data(argument: ScriptArgument, directory: str) -> str | None:
    """Return the directory here that is the default of an argument with the name of data."""
    default = argument.option.default
    if not _names_data(argument) or not isinstance(default, str) or not default or os.path.isabs(default):
        return None
    path = os.path.normpath(default)
    if path.startswith(os.pardir) or path == os.curdir:
        return None
    return f"{path}/" if os.path.isdir(os.path.join(directory, path)) else None


def _data_of(name: str, count: int, directory: str) -> str | None:
    """Return the data of a channel by the usual names: ``data/NAME``, or ``data`` for the only one."""
    usual: Iterable[str] = (f"{_USUAL_DATA}/{name}", _USUAL_DATA) if count == 1 else (f"{_USUAL_DATA}/{name}",)
    return next((f"{path}/" for path in usual if os.path.isdir(os.path.join(directory, path))), None)
