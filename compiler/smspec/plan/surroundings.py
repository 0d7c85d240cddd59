"""What the program will find when it starts: its command line as the runtime makes it, channels, variables."""

from __future__ import annotations

import json
import re

from smspec.plan.plan import RequestPlan
from smspec.script.surroundings import Argument, Surroundings
from smspec.source import Path
from smspec.spec.model import ArgsStyle, BuiltImage, CommandEntry, JobSpec, ModuleEntry, PipeLoopEntry, ScriptEntry
from smspec.spec.starter import starter

RESERVED = frozenset({"default_user_module_name", "_tuning_objective_metric"})
"""Beside all that begin with `sagemaker_`: they never reach the program (RUNTIME.md 4)."""

_DECIDING = ("SAGEMAKER_PROGRAM", "SAGEMAKER_TRAINING_MODULE", "SAGEMAKER_BASE_DIR", "PYTHONPATH")
"""Variables that may put another program in the place of the one that the spec names."""

_PROGRAM_KEYS = {ScriptEntry: "script", ModuleEntry: "module", PipeLoopEntry: "pipe_loop", CommandEntry: "command"}
_NEGATIVE = re.compile(r"-[0-9.][0-9.eE+-]*")


def plan_surroundings(job: JobSpec, request: RequestPlan) -> Surroundings | None:
    """Return what a job gives to its program; None where something else may be started in its place."""
    payload = request.payload
    variables = frozenset(_members(payload.get("Environment"))) | frozenset(
        job.image.env if isinstance(job.image, BuiltImage) else ()
    )
    if starter(job) == "image" or variables & set(_DECIDING) or job.api.get("AlgorithmSpecification"):
        return None
    sent = _members(payload.get("HyperParameters"))
    values = {name: _decoded(text) for name, text in sent.items() if not _is_reserved(name)}
    paths = {name: request.origin(("HyperParameters", name)) for name in values}
    return Surroundings(
        arguments=_arguments(job, values, {name: str(sent[name]) for name in values}, paths),
        hyperparameters=tuple(values),
        channels=_channels(payload.get("InputDataConfig")),
        variables=variables,
        hyperparameters_path=("hyperparameters",) if job.hyperparameters else ("entry_point",),
        channels_path=("channels",) if job.channels else ("entry_point",),
        program_path=("entry_point", _PROGRAM_KEYS.get(type(job.entry_point), "script")),
    )


def _arguments(
    job: JobSpec, values: dict[str, object], sent: dict[str, str], paths: dict[str, Path]
) -> tuple[Argument, ...] | None:
    entry = job.entry_point
    if isinstance(entry, ScriptEntry):
        # A toolkit in an image of others knows no `args`, and only its own style.
        is_ours = starter(job) == "runtime"
        style, written, key, first = (
            entry.args_style if is_ours else "toolkit",
            entry.args if is_ours else (),
            "args",
            0,
        )
    elif isinstance(entry, CommandEntry):
        style, written, key, first = entry.args_style, entry.command[2:], "command", 2
    else:
        return None
    own = [Argument(words=(word,), path=("entry_point", key, index)) for index, word in enumerate(written, first)]
    names = sorted(values) if style == "toolkit" else list(values)
    made = [
        Argument(words=words, path=paths[name], hyperparameter=name, value=values[name])
        for name in names
        if (words := argument_words(style, name, values[name], sent[name]))
    ]
    return (*_paired(own), *made)


def _paired(words: list[Argument]) -> list[Argument]:
    """Put an option among written words together with what follows it."""
    paired: list[Argument] = []
    for word in words:
        is_value = not word.words[0].startswith("-") or _NEGATIVE.fullmatch(word.words[0]) is not None
        if paired and is_value and paired[-1].words[0].startswith("-"):
            before = paired.pop()
            paired.append(Argument(words=(*before.words, *word.words), path=before.path))
        else:
            paired.append(word)
    return paired


def argument_words(style: ArgsStyle, name: str, value: object, sent: str) -> tuple[str, ...]:
    """Return the words that a hyperparameter becomes, as `smspec_runtime.arguments` makes them; a test compares."""
    match style:
        case "none":
            return ()
        case "toolkit":
            if isinstance(value, dict):
                value = ",".join(f"{key}={inner}" for key, inner in sorted(value.items()))
            dashes = "--" if len(name) > 1 else "-" if name else ""
            return dashes + name, "" if value is None else str(value)
        case "flags" if isinstance(value, bool):
            return (f"--{name}",) if value else ()
        case "flags" if isinstance(value, list):
            return (f"--{name}", *(item if isinstance(item, str) else json.dumps(item) for item in value))
    return f"--{name}", value if isinstance(value, str) else sent.strip()


def _is_reserved(name: str) -> bool:
    return name in RESERVED or name.startswith("sagemaker_")


def _decoded(text: object) -> object:
    """Return what a program's side makes of a text: its JSON where it is JSON, else the text."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def _members(value: object) -> dict[str, object]:
    return {str(name): inner for name, inner in value.items()} if isinstance(value, dict) else {}


def _channels(config: object) -> tuple[str, ...]:
    items = config if isinstance(config, list | tuple) else ()
    return tuple(str(item["ChannelName"]) for item in items if isinstance(item, dict) and "ChannelName" in item)
