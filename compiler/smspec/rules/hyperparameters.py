"""Rules about what the script receives: hyperparameters, arguments, and secrets; and about secrets of the image."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted, secret_of
from smspec.diagnostics.secret_formats import certain_secret
from smspec.diagnostics.secrets import option_name
from smspec.source import Listing, Path, dotted
from smspec.spec.model import BuiltImage, CommandEntry, ExistingImage, JobSpec, Mpi, ScriptEntry
from smspec.spec.startup import makes_arguments, starter

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


EMPTY_HYPERPARAMETER = Rule("SM217", "empty hyperparameter", "warning")


def empty_hyperparameter(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about an empty string that is sent as it is: SageMaker does not give it to the container.

    With an entry point it is sent in JSON's quotes, which the runtime and SageMaker's images decode
    (aws/sagemaker-python-sdk#582).
    """
    if job.entry_point is not None and job.hyperparameter_encoding != "raw":
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.value == "":
            yield EMPTY_HYPERPARAMETER.at(
                ("hyperparameters", hyperparameter.name),
                f"`hyperparameters.{hyperparameter.name}` is empty: SageMaker does not give it to the container",
                help="remove it, or use a value that the image understands",
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


COMMAND_IN_ONE_ITEM = Rule("SM826", "command in one item", instead_of="SM512")

_PROGRAM = (
    r"(?:/\S*/)?"
    r"(?:python[\d.]*|bash|dash|sh|torchrun|accelerate|deepspeed|mpirun|env|exec|nice|nohup|numactl|time|timeout)"
)
_NO_PROGRAM = r"-(?!\w*[cm]\Z).*|[A-Za-z_]\w*=.*|\d+[smhd]?"
"""Words between a program and the one that it starts: options, except those before a text or a module."""

_OF_A_SHELL = r"[;&|<>$`*]"


def command_in_one_item(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject a program, or the file that an interpreter runs, whose name has the arguments in it.

    A command is started without a shell: each item is one word, and no program has a name such as `python train.py`.
    """
    words = job.entry_point.command if isinstance(job.entry_point, CommandEntry) else ()
    return words_in_one_item(words, ("entry_point", "command"), source)


def words_in_one_item(words: Sequence[object], path: Path, source: Listing | None = None) -> Iterator[Finding]:
    """Report the first item at ``path`` that certainly has several words; without ``source``, its files are unknown."""
    for index, word in enumerate(words):
        parts = word.split() if isinstance(word, str) else []
        if isinstance(word, str) and parts and parts != [word] and not _has(source, word):
            first = parts[0]
            is_file = _has(source, first) and (index == 0 or first.endswith((".py", ".sh")))
            is_module = index > 0 and first == "-m"
            if re.fullmatch(_PROGRAM, first) or is_file or is_module or (index == 0 and "/" not in first):
                claim = "no module has a blank in its name" if is_module else "no file has this name"
                yield COMMAND_IN_ONE_ITEM.at(
                    (*path, index),
                    f"`{dotted((*path, index))}` is {quoted(word)}, but {claim}",
                    help=_help_for_words(word, parts),
                )
                return
        is_program = isinstance(word, str) and re.fullmatch(_PROGRAM, word)
        if not isinstance(word, str) or not (is_program or (index and re.fullmatch(_NO_PROGRAM, word, re.DOTALL))):
            return


def _has(source: Listing | None, word: str) -> bool:
    return source is not None and source.has(posixpath.normpath(word).removeprefix("/opt/ml/code/"))


def _help_for_words(word: str, parts: list[str]) -> str:
    if re.search(_OF_A_SHELL, word):
        return "write `[bash, -c, TEXT]`: only a shell reads such a text"
    is_plain = len(parts) <= 4 and all(re.fullmatch(r"[A-Za-z/.-][\w./-]*", part) for part in parts)
    return "write one word per item" + (f": `{', '.join(parts)}`" if is_plain else ", as in `[python, train.py]`")


SECRET_IN_THE_IMAGE = Rule("SM602", "secret in the image", "warning")

CERTAIN_SECRET_IN_THE_IMAGE = Rule("SM618", "certain secret in the image")

_INSTALLERS = ("PIP_", "UV_")

_OF_THE_BUILD = "use a secret of the build: `image.secrets`"

_OF_THE_JOB = "move it to Secrets Manager or Parameter Store, and set its ARN in `secrets`"


def secret_in_the_image(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Warn about what looks like a secret in a string that becomes part of the image; reject what certainly is one.

    An image keeps what it was built with: anyone who can pull it can read it, in a layer or in `docker history`.
    """
    if not isinstance(job.image, BuiltImage):
        return
    for path, name, text in (*_named_texts(job.image), *_words(job)):
        certain = certain_secret(name, text)
        what = certain or secret_of(name, text)
        if what:
            rule, claim = (
                (CERTAIN_SECRET_IN_THE_IMAGE, f"contains {certain}; the image exposes it")
                if certain
                else (SECRET_IN_THE_IMAGE, f"looks like {what}; everyone who can pull the image can read it")
            )
            yield rule.at(
                path,
                f"`{dotted(path)}` {claim}",
                help=_OF_THE_BUILD if _is_for_the_build(path, name) else _OF_THE_JOB,
            )


def _is_for_the_build(path: Path, name: str) -> bool:
    """Return whether the build uses a string, such as the URL of a package index."""
    return path[1] in ("pre_install", "run", "build_args", "python_packages") or (
        path[:2] == ("image", "env") and name.startswith(_INSTALLERS)
    )


def _named_texts(image: BuiltImage) -> Iterator[tuple[Path, str, str]]:
    for key, texts in (("env", image.env), ("build_args", image.build_args), ("labels", image.labels)):
        for name, text in texts.items():
            yield ("image", key, name), name, text
    for key, lines in (
        ("pre_install", image.pre_install),
        ("run", image.run),
        ("python_packages", image.python_packages),
    ):
        for index, line in enumerate(lines):
            yield ("image", key, index), "", line


def _words(job: JobSpec) -> Iterator[tuple[Path, str, str]]:
    """Yield the words of the command line; each is named after the option before it."""
    entry = job.entry_point
    key, words = "", tuple[str, ...]()
    if isinstance(entry, ScriptEntry):
        key, words = "args", entry.args
    elif isinstance(entry, CommandEntry):
        key, words = "command", entry.command
    option = ""
    for index, word in enumerate(words):
        yield ("entry_point", key, index), option, word
        option = option_name(word)


SECRET_INSTEAD_OF_ITS_VARIABLE = Rule("SM607", "secret instead of its variable")


def secret_instead_of_its_variable(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Reject build secrets whose variable has the form of a secret: no variable is called that.

    A build secret is named by a variable; a spec that contains the secret itself reveals it to every reader.
    """
    if not isinstance(job.image, BuiltImage):
        return
    for name, secret in job.image.secrets.items():
        what = secret_of("", secret.env or "")
        path = ("image", "secrets", name, "env")
        if what:
            yield SECRET_INSTEAD_OF_ITS_VARIABLE.at(
                path,
                f"`{dotted(path)}` looks like {what}, but must be the name of a variable",
                help="replace the secret, because everyone who can read the spec has it; write the name of a variable",
            )


MISSING_RUNTIME_FOR_SECRETS = Rule("SM610", "secrets without the smspec runtime")

_INSTEAD = {
    "toolkit": ("the toolkit in the image", "set `source.delivery: channel`"),
    "image": ("the image", "set `source` and `entry_point`, or fetch the secrets in the program of the image"),
}


def missing_runtime_for_secrets(job: JobSpec) -> Iterator[Finding]:
    """Reject secrets where an existing image starts the job itself.

    The smspec runtime fetches the values of `secrets`, so it must be what starts the script.
    """
    kind = starter(job)
    if job.secrets and kind in _INSTEAD:
        what, help = _INSTEAD[kind]
        yield MISSING_RUNTIME_FOR_SECRETS.at(
            ("secrets",), f"`secrets` requires the smspec runtime, but {what} starts the job", help=help, on="key"
        )


def secret_findings(job: JobSpec) -> list[Finding]:
    """Return what keeps a job from getting its secrets, where its request does not show that.

    A malformed secret is not sent, because it may be the secret itself.
    """
    from smspec.service.request_rules.secret_references import check_secrets  # imported late: few have any

    return [*missing_runtime_for_secrets(job), *check_secrets(job.secrets, ("secrets",))]


RULES = (
    reserved_hyperparameter,
    hyperparameter_that_cannot_become_an_argument,
    empty_hyperparameter,
    hyperparameters_with_the_same_variable,
    hyperparameters_too_large_for_a_variable,
    oversized_argument,
    unused_arguments_style,
    command_in_one_item,
    secret_in_the_image,
    secret_instead_of_its_variable,
)
