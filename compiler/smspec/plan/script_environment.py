"""The environment of the script at startup: its command line as the runtime makes it, channels, and variables.

It is known only if nothing can start a different script than the one in the spec, or change its command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from smspec.plan import RequestPlan
from smspec.plan.delivery import RUNTIME_ENTRYPOINT
from smspec.script.program import UnreadScript
from smspec.script.script_environment import Argument, ScriptEnvironment, argument_words
from smspec.service.shapes import member
from smspec.source import Path, dotted
from smspec.spec.model import (
    BuiltImage,
    CommandEntry,
    EntryPoint,
    JobSpec,
    ModuleEntry,
    PipeLoopEntry,
    ScriptEntry,
)
from smspec.spec.startup import isolation_path, starter, unrouted_path

if TYPE_CHECKING:
    from smspec.script.started import StartedByCommand

RESERVED = frozenset({"default_user_module_name", "_tuning_objective_metric"})
"""In addition to all names that begin with `sagemaker_`: these never reach the script."""

_PROGRAM_KEYS = {ScriptEntry: "script", ModuleEntry: "module", PipeLoopEntry: "pipe_loop", CommandEntry: "command"}
_MEETING = frozenset({"MASTER_ADDR", "MASTER_PORT"})
"""Set by the runtime on several hosts (smspec_runtime.cluster), and by SageMaker's PyTorch images."""
_PYTORCH_IMAGE, _PYTORCH_MODULE = "pytorch-training", "sagemaker_pytorch_container."
_OFFICIAL = re.compile(r"(?:docker\.io/)?(?:library/)?python(?:[:@].*)?")
_NEGATIVE = r"-[0-9.][0-9.eE+-]*"

_ROOT = "/opt/ml"
_ALGORITHM = "AlgorithmSpecification"
_SUBMITTED = ("sagemaker_program", "sagemaker_submit_directory")

# Modules in AWS's framework containers that start the author's script themselves.
_OF_AWS = r"sagemaker_\w+_container\."


def replaced_script(job: JobSpec, request: RequestPlan) -> UnreadScript | None:
    """Return why a different script may start than the one in the spec; None if it is that one, or if there is none."""
    if starter(job) == "image" or job.entry_point is None:
        return None
    reason = replacement(job, request, _variables(job, request))
    if reason is None:
        return None
    return UnreadScript(name=_name(job.entry_point), reason=reason, path=_program_path(job.entry_point))


def plan_script_environment(
    job: JobSpec, request: RequestPlan, in_shell: StartedByCommand | None = None
) -> ScriptEnvironment | UnreadScript | None:
    """Return what a job passes to its script; None for a job without one.

    ``in_shell``: the command in a shell script of the source that starts it.
    """
    if starter(job) == "image" or job.entry_point is None:
        return None
    replaced = replaced_script(job, request)
    if replaced is not None:
        return replaced
    payload = request.payload
    environment = _variables(job, request)
    started = in_shell or _started(job.entry_point)
    variables = frozenset(environment) | frozenset(job.secrets) | (started.variables if started else frozenset())
    sent = _members(payload.get("HyperParameters"))
    values = {name: _decoded(text) for name, text in sent.items() if not _is_reserved(name)}
    paths = {name: request.origin(("HyperParameters", name)) for name in values}
    passed = _arguments(job, values, {name: str(sent[name]) for name in values}, paths)
    return ScriptEnvironment(
        arguments=passed if in_shell is None else _in_shell(in_shell, job.entry_point, passed),
        hyperparameters=tuple(values),
        channels=_channels(payload.get("InputDataConfig")),
        variables=variables | _MEETING if _host_count(payload) > 1 or _is_for_pytorch(job, environment) else variables,
        omitted=tuple(
            Argument(words=(), path=paths[name], hyperparameter=name, value=False)
            for name, value in values.items()
            if value is False and _style(job) == "flags" and in_shell is None
        ),
        piped=_channels(payload.get("InputDataConfig"), _input_mode(payload)),
        is_bare=is_bare(job),
        has_only_source=is_bare(job) or _is_of_aws(job),
        forms_groups=job.distribution is not None or not _starts_script(job) or _names_launcher(sent),
        isolation_path=isolation_path(job),
        unrouted_path=unrouted_path(job),
        packages=_packages(job),
        hyperparameters_path=("hyperparameters",) if job.hyperparameters else ("entry_point",),
        channels_path=("channels",) if job.channels else ("entry_point",),
        program_path=_program_path(job.entry_point),
    )


def _packages(job: JobSpec) -> frozenset[str] | None:
    """Return the normalized names of the packages in the image; None if they are unknown, as those of other bases."""
    image = job.image
    if not isinstance(image, BuiltImage) or not is_bare(job) or image.python_requirements is not None:
        return None
    names = (re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", package) for package in image.python_packages)
    return frozenset({"pip", *(re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name)})


def _program_path(entry: EntryPoint) -> Path:
    return ("entry_point", _PROGRAM_KEYS[type(entry)])


def _variables(job: JobSpec, request: RequestPlan) -> dict[str, object]:
    """Return the variables of the container that the job sets."""
    of_image = job.image.job_variables if isinstance(job.image, BuiltImage) else {}
    return {**of_image, **_members(request.payload.get("Environment"))}


def _host_count(payload: Mapping[str, object]) -> int:
    resources = _members(payload.get("ResourceConfig"))
    groups = resources.get("InstanceGroups")
    counts = [resources, *(_members(group) for group in (groups if isinstance(groups, list) else ()))]
    return sum(count for group in counts if isinstance(count := group.get("InstanceCount"), int))


def _is_for_pytorch(job: JobSpec, environment: Mapping[str, object]) -> bool:
    """Return whether the image is one of SageMaker's PyTorch images, or based on one."""
    module = str(environment.get("SAGEMAKER_TRAINING_MODULE", ""))
    return bool(module_of_image(job)) or module.startswith(_PYTORCH_MODULE)


def module_of_image(job: JobSpec) -> str:
    """Return SAGEMAKER_TRAINING_MODULE of a PyTorch image of SageMaker, or based on one; empty for any other image.

    Those of the other frameworks change nothing for a script.
    """
    image = job.image.base if isinstance(job.image, BuiltImage) else job.image.uri if job.image else ""
    return f"{_PYTORCH_MODULE}training:main" if _PYTORCH_IMAGE in image else ""


def _names_launcher(sent: Mapping[str, object]) -> bool:
    """Return whether a hyperparameter of SageMaker's SDK sets a launcher."""
    return any(name.startswith("sagemaker_") and name.endswith("_enabled") for name in sent)


def _is_of_aws(job: JobSpec) -> bool:
    """Return whether the image is one of AWS, or built on one without commands."""
    image = job.image
    if image is None or (isinstance(image, BuiltImage) and image.commands):
        return False
    from smspec.service.provided_images import provided_image  # imported late: many images are not from ECR

    return provided_image(image.base if isinstance(image, BuiltImage) else image.uri) is not None


def _starts_script(job: JobSpec) -> bool:
    """Return whether the runtime starts the script itself: a command may be a launcher."""
    return isinstance(job.entry_point, ScriptEntry) and job.entry_point.script.endswith(".py")


def _name(entry: EntryPoint) -> str:
    """Return the name of the script in the spec."""
    match entry:
        case ScriptEntry(script=script):
            return script
        case ModuleEntry(module=function) | PipeLoopEntry(pipe_loop=function):
            return function
    return " ".join(entry.command)


def _style(job: JobSpec) -> str:
    """Return how hyperparameters become arguments of a script that the runtime starts."""
    is_ours = isinstance(job.entry_point, ScriptEntry | CommandEntry) and starter(job) == "runtime"
    return job.entry_point.args_style if is_ours and isinstance(job.entry_point, ScriptEntry | CommandEntry) else ""


def _in_shell(
    started: StartedByCommand, entry: EntryPoint, passed: tuple[Argument, ...] | None
) -> tuple[Argument, ...] | None:
    """Return the arguments that a shell script writes, and those that it got and passes on; None if any is unknown."""
    from smspec.script.started import PASSED  # imported late: few scripts are of a shell

    words = [word for word, _ in started.arguments or ()]
    passes = words[-1:] == [PASSED]
    if started.arguments is None or PASSED in words[:-1] or (passes and not isinstance(entry, ScriptEntry)):
        return None
    own = [Argument(words=(word,), path=_program_path(entry)) for word in words[: len(words) - passes]]
    return (*_paired(own), *((passed or ()) if passes else ()))


def _arguments(
    job: JobSpec, values: dict[str, object], sent: dict[str, str], paths: dict[str, Path]
) -> tuple[Argument, ...] | None:
    entry = job.entry_point
    if isinstance(entry, ScriptEntry):
        # A toolkit in an existing image has no `args`, and supports only its own style.
        is_ours = starter(job) == "runtime"
        style = entry.args_style if is_ours else "toolkit"
        own = [
            Argument(words=(word,), path=("entry_point", "args", at))
            for at, word in enumerate(entry.args if is_ours else ())
        ]
    elif isinstance(entry, CommandEntry):
        found = _started(entry)
        if found is not None and found.arguments is None:
            return None
        own = [Argument(words=(word,), path=("entry_point", "command", at)) for word, at in _after(entry, found)]
        style = "none" if found is not None and found.is_text else entry.args_style
    else:
        return None
    names = sorted(values) if style == "toolkit" else list(values)
    made = [
        Argument(words=words, path=paths[name], hyperparameter=name, value=values[name])
        for name in names
        if (words := argument_words(style, name, values[name], sent[name]))
    ]
    return (*_paired(own), *made)


def _started(entry: EntryPoint) -> StartedByCommand | None:
    """Return what a command starts."""
    if not isinstance(entry, CommandEntry):
        return None
    from smspec.script.started import started_by_command  # imported late: few jobs have a command

    return started_by_command(entry.command)


def _after(entry: CommandEntry, found: StartedByCommand | None) -> Iterable[tuple[str, int]]:
    """Return the words of a command after its program, with their indexes."""
    if found is not None:
        return found.arguments or ()
    return [(word, at) for at, word in enumerate(entry.command[1:], 1)]


def _paired(words: list[Argument]) -> list[Argument]:
    """Join each option in a list of words with the value after it."""
    paired: list[Argument] = []
    for word in words:
        is_value = not word.words[0].startswith("-") or re.fullmatch(_NEGATIVE, word.words[0]) is not None
        if paired and is_value and paired[-1].words[0].startswith("-"):
            before = paired.pop()
            paired.append(Argument(words=(*before.words, *word.words), path=before.path))
        else:
            paired.append(word)
    return paired


def _is_reserved(name: str) -> bool:
    return name in RESERVED or name.startswith("sagemaker_")


def _decoded(text: object) -> object:
    """Return how the script decodes a string: as JSON if it is valid JSON, else as the string."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def _members(value: object) -> dict[str, object]:
    return {str(name): inner for name, inner in value.items()} if isinstance(value, dict) else {}


def _channels(config: object, default_mode: str = "") -> tuple[str, ...]:
    """Return the names of the channels; with a default mode, of those in Pipe mode."""
    items = config if isinstance(config, list | tuple) else ()
    return tuple(
        str(item["ChannelName"])
        for item in items
        if isinstance(item, dict)
        and "ChannelName" in item
        and (not default_mode or (item.get("InputMode") or default_mode) == "Pipe")
    )


def _input_mode(payload: Mapping[str, object]) -> str:
    return str(_members(payload.get("AlgorithmSpecification")).get("TrainingInputMode") or "File")


def is_bare(job: JobSpec) -> bool:
    """Return whether the variables of the image are known: it is built on an official image of Python."""
    image = job.image
    return isinstance(image, BuiltImage) and not image.commands and _OFFICIAL.fullmatch(image.base) is not None


def replacement(job: JobSpec, request: RequestPlan, environment: Mapping[str, object]) -> str | None:
    """Return why a different script may start than the one in the spec, as the end of a sentence; None if it cannot."""
    member_path = next(_replacing_members(job, request), None)
    if member_path is not None:
        return f"`{dotted(('api', *member_path))}` may replace it"
    variable = next(_replacing_variables(job, environment), None)
    if variable is not None:
        return f"`{variable}` may replace it"
    return None


def _replacing_members(job: JobSpec, request: RequestPlan) -> Iterator[tuple[str, ...]]:
    """Yield the relevant members of the patch; all others of AlgorithmSpecification do not affect the script."""
    is_built = isinstance(job.image, BuiltImage)
    if job.api.get("ServerlessJobConfig") is not None:
        yield ("ServerlessJobConfig",)
    for name in _patched(job, _ALGORITHM, "ContainerEntrypoint"):
        planned = RUNTIME_ENTRYPOINT if not is_built and job.delivery == "channel" else ()
        written = member(request.payload, _ALGORITHM, "ContainerEntrypoint")
        if tuple(written if isinstance(written, list | tuple) else ()) != planned:
            yield name
    for name in _patched(job, _ALGORITHM, "ContainerArguments", "AlgorithmName", *(["TrainingImage"] * is_built)):
        if member(request.payload, *name) is not None or name[-1:] == ("TrainingImage",):
            yield name
    if job.delivery == "channel" and "InputDataConfig" in job.api:
        yield ("InputDataConfig",)
    if job.delivery == "s3":
        yield from _patched(job, "HyperParameters", *_SUBMITTED)


def _patched(job: JobSpec, top: str, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield which of some members the patch changes; the whole, where it is not an object."""
    if top not in job.api:
        return
    patch = job.api[top]
    if isinstance(patch, dict):
        yield from ((top, name) for name in names if name in patch)
    else:
        yield (top,)


def _replacing_variables(job: JobSpec, environment: Mapping[str, object]) -> Iterator[str]:
    """Yield the variables that affect what starts the script, where they change anything."""
    if environment.get("SAGEMAKER_BASE_DIR", _ROOT) not in (_ROOT, ""):
        yield "SAGEMAKER_BASE_DIR"
    if starter(job) == "runtime":
        # The plan in the image, or next to the entrypoint, names the script: no variable does.
        if job.delivery == "s3" and environment.get("SAGEMAKER_SUBMIT_DIRECTORY"):
            yield "SAGEMAKER_SUBMIT_DIRECTORY"
        return
    script = job.entry_point.script if isinstance(job.entry_point, ScriptEntry) else ""
    if environment.get("SAGEMAKER_PROGRAM", script) not in (script, ""):
        yield "SAGEMAKER_PROGRAM"
    module = environment.get("SAGEMAKER_TRAINING_MODULE")
    if module and not re.match(_OF_AWS, str(module)):
        yield "SAGEMAKER_TRAINING_MODULE"
