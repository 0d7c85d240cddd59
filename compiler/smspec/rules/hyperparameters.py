"""Rules about hyperparameters and arguments: their names, and what Linux passes to a process."""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Path, dotted
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, CommandEntry, ExistingImage, JobSpec, Mpi, ScriptEntry
from smspec.spec.startup import makes_arguments

RESERVED_HYPERPARAMETER = Rule("SM319", "reserved hyperparameter")

PREFIX = "sagemaker_"


def reserved_hyperparameter(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject them, except for an existing image that starts itself, which may read any of them.

    Hyperparameters `sagemaker_…` configure what a container starts; the spec has keys for that.
    """
    if job.entry_point is None and not isinstance(job.image, BuiltImage):
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.name.startswith(PREFIX):
            yield RESERVED_HYPERPARAMETER.at(
                ("hyperparameters", hyperparameter.name),
                f"`hyperparameters.{hyperparameter.name}` is reserved: the script never receives it",
                help="remove it; use `entry_point`, `source`, or `distribution` instead",
                on="key",
            )


HYPERPARAMETER_THAT_CANNOT_BECOME_AN_ARGUMENT = Rule("SM320", "hyperparameter that cannot become an argument")


def hyperparameter_that_cannot_become_an_argument(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `=` in a name, and NUL anywhere, where hyperparameters become arguments.

    Hyperparameters become `--key value` arguments and SM_HP_KEY variables.
    """
    if not makes_arguments(job):
        return
    for hyperparameter in job.hyperparameters:
        path = ("hyperparameters", hyperparameter.name)
        if "=" in hyperparameter.name or "\0" in hyperparameter.name:
            yield HYPERPARAMETER_THAT_CANNOT_BECOME_AN_ARGUMENT.at(
                path,
                f"the name of hyperparameter {quoted(hyperparameter.name)} contains `=` or NUL",
                help="rename it, or set `entry_point.args_style: none`",
                on="key",
            )
        elif isinstance(hyperparameter.value, str) and "\0" in hyperparameter.value:
            yield HYPERPARAMETER_THAT_CANNOT_BECOME_AN_ARGUMENT.at(
                path,
                f"`hyperparameters.{hyperparameter.name}` contains NUL, but becomes an argument of the script",
                help="remove the NUL, or set `entry_point.args_style: none`",
            )


HYPERPARAMETERS_WITH_THE_SAME_VARIABLE = Rule("SM376", "hyperparameters with the same variable", "warning")


def hyperparameters_with_the_same_variable(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about hyperparameters whose names differ only in case; as arguments of the script they stay distinct.

    A hyperparameter is also available as SM_HP_NAME, with the name in upper case: two can share a variable.
    """
    if not makes_arguments(job):
        return
    first: dict[str, str] = {}
    for hyperparameter in job.hyperparameters:
        name = hyperparameter.name
        other = first.setdefault(name.upper(), name)
        if other != name:
            yield HYPERPARAMETERS_WITH_THE_SAME_VARIABLE.at(
                ("hyperparameters", name),
                f"hyperparameters `{name}` and `{other}` share the variable `SM_HP_{name.upper()}`",
                help="rename one of them, or read them as arguments only",
                on="key",
            )


HYPERPARAMETERS_TOO_LARGE_FOR_A_VARIABLE = Rule("SM380", "hyperparameters too large for a variable", "warning")

# MAX_ARG_STRLEN of Linux, with room for the name of the variable and the rest of SM_TRAINING_ENV.
MOST = 131_072 - 4_096


def hyperparameters_too_large_for_a_variable(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn where SM_HPS and SM_TRAINING_ENV would have to be omitted.

    Linux limits a variable or an argument to 128 KiB, and a hundred hyperparameters can be twice as long.
    """
    if not makes_arguments(job):
        return
    written = {hyperparameter.name: hyperparameter.value for hyperparameter in job.hyperparameters}
    size = len(json.dumps(written, default=str).encode())
    if size > MOST:
        yield HYPERPARAMETERS_TOO_LARGE_FOR_A_VARIABLE.at(
            ("hyperparameters",),
            f"`hyperparameters` are {size:,} bytes, too large for one variable: `SM_HPS` is not set",
            help="move large values to a file of the source, or to a channel",
            on="key",
        )


OVERSIZED_ARGUMENT = Rule("SM382", "oversized argument")

_LONGEST = 131_071
"""MAX_ARG_STRLEN of Linux, without the NUL at its end."""


def oversized_argument(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject arguments, build commands, and image variables that exceed the limit.

    Linux limits an argument or a variable to 128 KiB: a longer one cannot be passed to a process.
    """
    for path, text in _texts(job):
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > _LONGEST:
            yield OVERSIZED_ARGUMENT.at(
                path,
                f"`{dotted(path)}` is {size:,} bytes; Linux limits one argument or variable to {_LONGEST:,}",
                help="move the text to a file of the source",
            )


def _texts(job: JobSpec) -> Iterator[tuple[Path, str]]:
    entry, image, launcher = job.entry_point, job.image, job.distribution
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command if isinstance(entry, CommandEntry) else ()
    key = "args" if isinstance(entry, ScriptEntry) else "command"
    yield from ((("entry_point", key, index), word) for index, word in enumerate(words))
    if isinstance(launcher, Mpi):
        yield from ((("distribution", "mpi", "options", index), word) for index, word in enumerate(launcher.options))
    if isinstance(image, BuiltImage):
        for key, texts in (("env", image.env), ("env_prepend", image.env_prepend), ("build_args", image.build_args)):
            yield from ((("image", key, name), f"{name}={value}") for name, value in texts.items())
        for key, commands in (("pre_install", image.pre_install), ("run", image.run)):
            yield from ((("image", key, index), command) for index, command in enumerate(commands))


UNUSED_ARGUMENTS_STYLE = Rule("SM317", "unused arguments style")


def unused_arguments_style(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `args_style` where the smspec runtime does not convert hyperparameters to arguments.

    A command that is passed to an image gets only the words that are written.
    """
    entry = job.entry_point
    if not isinstance(job.image, ExistingImage) or job.source is not None or not isinstance(entry, CommandEntry):
        return
    if entry.args_style != "none":
        yield UNUSED_ARGUMENTS_STYLE.at(
            ("entry_point", "args_style"),
            "`entry_point.args_style` needs `source` when `image` names an existing image",
            help="set `source`, or add the arguments to `entry_point.command`",
        )


RULES = (
    reserved_hyperparameter,
    hyperparameter_that_cannot_become_an_argument,
    hyperparameters_with_the_same_variable,
    hyperparameters_too_large_for_a_variable,
    oversized_argument,
    unused_arguments_style,
)
