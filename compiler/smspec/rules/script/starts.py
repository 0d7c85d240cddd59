"""Rules about how a script starts: the variables that it reads, its handler, its process group, and its network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import did_you_mean, distance
from smspec.script.program import Program, UnreadScript
from smspec.script.script_environment import (
    Argument,
    ArgumentFault,
    FaultKind,
    ScriptEnvironment,
    is_set,
    near_variable,
)
from smspec.source import Path, Span
from smspec.source.frozen import dataclass
from smspec_runtime.secret_names import LIKELY, strength


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAndJob:
    """``faults``: what the parsers of the script would reject in its command line."""

    program: Program
    environment: ScriptEnvironment
    faults: tuple[ArgumentFault, ...]

    @property
    def name(self) -> str:
        """The name of the script in a message."""
        return self.program.texts[0].name.replace("\\", "/").rpartition("/")[2]

    def of_kind(self, *kinds: FaultKind) -> Iterator[ArgumentFault]:
        return (fault for fault in self.faults if fault.kind in kinds)

    def path_of(self, fault: ArgumentFault) -> Path:
        return fault.argument.path if fault.argument is not None else self.environment.hyperparameters_path


def passes(both: ScriptAndJob, options: tuple[str, ...]) -> bool:
    """Return whether the job may pass any of these options, also abbreviated; an unknown command line may."""
    if both.environment.arguments is None:
        return bool(options)
    words = [word.partition("=")[0] for word in both.environment.words if word.startswith("-")]
    return any(name == word or (len(word) > 2 and name.startswith(word)) for name in options for word in words)


def option_word(argument: Argument) -> str:
    """Return the first word of an argument: the option as the script receives it."""
    return argument.words[0] if argument.words else ""


def notes(fault: ArgumentFault) -> tuple[Note, ...]:
    """Return notes on where the option is declared, or where the command line is parsed."""
    if fault.option is not None:
        return (Note("the script declares it here", fault.option.place),)
    return (Note("the script reads its arguments here", fault.command_line.place),)


def read_at(place: Span) -> tuple[Note, ...]:
    return (Note("the script reads it here", place),)


MISSPELLED_VARIABLE = Rule("SM514", "misspelled SageMaker variable")


def misspelled_variable(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a variable that the script requires and whose name is similar to one that is set.

    A variable that SageMaker does not set is a KeyError; one similar to a known name is a typo.
    """
    for read in (*both.program.variables, *both.program.other_variables):
        near = near_variable(read.written)
        if is_set(read.written) or read.written in both.environment.variables or near is None:
            continue
        yield MISSPELLED_VARIABLE.at(
            both.environment.program_path,
            f"`{both.name}` reads `{read.written}`, but SageMaker sets no such variable",
            label=f"did you mean `{near}`?",
            help=f"read `{near}` in the script, or set `{read.written}` in `environment`",
            notes=read_at(read.place),
        )


UNSET_VARIABLE = Rule("SM515", "unset SageMaker variable", "warning")


def unset_variable(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable `SM_…` that the script requires and whose name is not similar to a known one.

    A variable that neither SageMaker nor the spec sets is a KeyError, unless the image sets it.
    """
    for read in both.program.variables:
        is_known = is_set(read.written) or read.written in both.environment.variables
        if not is_known and near_variable(read.written) is None:
            yield UNSET_VARIABLE.at(
                both.environment.program_path,
                f"`{both.name}` reads `{read.written}`, but neither SageMaker nor the spec sets it",
                help=f"set `{read.written}` in `environment`, or ignore SM515 if the image sets it",
                notes=read_at(read.place),
            )


MISSPELLED_OPTIONAL_VARIABLE = Rule("SM525", "misspelled optional variable", "warning")

_MOST_TYPOS = 2


def misspelled_optional_variable(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable with a default whose name differs from a known one by a typo.

    A misspelled variable with a default is never set, so the script always uses the default.
    """
    seen: set[str] = set()
    for read in both.program.optional_variables:
        near = near_variable(read.written)
        if near is None or is_set(read.written) or read.written in both.environment.variables or read.written in seen:
            continue
        if distance(read.written, near, _MOST_TYPOS) > _MOST_TYPOS:
            continue
        seen.add(read.written)
        yield MISSPELLED_OPTIONAL_VARIABLE.at(
            both.environment.program_path,
            f"`{both.name}` reads `{read.written}`, which SageMaker never sets, and uses its default",
            label=f"did you mean `{near}`?",
            help=f"read `{near}` in the script, or set `{read.written}` in `environment`",
            notes=read_at(read.place),
        )


UNSET_ENVIRONMENT_VARIABLE = Rule("SM526", "unset environment variable", "warning")

_SET_BY_OTHERS = (
    *(
        "AWS_",
        "CUDA_",
        "ECS_",
        "GPG_",
        "HOME",
        "HOSTNAME",
        "LANG",
        "LC_",
        "LD_",
        "LOGNAME",
        "NCCL_",
        "NEURON_",
        "NVIDIA_",
    ),
    *(
        "PATH",
        "PWD",
        "PYTHON",
        "SAGEMAKER_",
        "SHELL",
        "SHLVL",
        "SM_",
        "SMDEBUG",
        "TERM",
        "TF_CONFIG",
        "TMPDIR",
        "TRAINING_",
    ),
    *("TZ", "USER", "CURRENT_HOST", "DMLC_", "FI_", "KUBERNETES_", "OMP_", "USE_SMDEBUG", "XLA_"),
)
"""Beginnings of what Docker, an official image of Python, SageMaker, its hosts, and the runtime set."""

_BY_LAUNCHERS = (
    *(
        "GROUP_",
        "LOCAL_",
        "MASTER_",
        "MPI",
        "OMPI_",
        "PMI",
        "PMIX",
        "RANK",
        "ROLE_",
        "TORCH",
        "WORLD_SIZE",
        "ACCELERATE_",
    ),
    *("DEEPSPEED_", "HOROVOD_", "SMDATAPARALLEL", "TORCHELASTIC_", "NODE_RANK", "FSDP_"),
)


def _key(name: str) -> str:
    """Return the key of the spec that sets a variable; DescribeTrainingJob shows what is in `environment`."""
    return "secrets" if strength(name) >= LIKELY else "environment"


def may_be_set(name: str) -> bool:
    """Return whether an image, a launcher, or a service may set a variable that no job sets."""
    return name.upper().startswith(_SET_BY_OTHERS + _BY_LAUNCHERS)


def unset_environment_variable(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable that the script requires, in an image whose variables are known.

    A script that requires a variable ends with a KeyError if neither the image nor the job sets it.
    """
    if not both.environment.is_bare:
        return
    for read in both.program.other_variables:
        is_set = read.written in both.environment.variables or may_be_set(read.written)
        if is_set or near_variable(read.written) is not None:
            continue
        yield UNSET_ENVIRONMENT_VARIABLE.at(
            both.environment.program_path,
            f"`{both.name}` requires the variable `{read.written}`, but the job does not set it",
            help=f"set `{read.written}` in `{_key(read.written)}`, or read it with a default in the script",
            notes=read_at(read.place),
        )


UNREAD_SCRIPT = Rule("SM512", "unread script", "note")

_EFFECT = Note("smspec did not check its arguments, channels, and hyperparameters")


def finding_for(unread: UnreadScript) -> Finding:
    """Report that the script of a job was not read, and why: a job without problems must not have the same result."""
    message = f"smspec did not read {quoted(unread.name)}: {unread.reason}"
    return UNREAD_SCRIPT.at(unread.path, message, help=unread.help, notes=(_EFFECT,))


HANDLER_MISSING_FROM_ITS_MODULE = Rule("SM511", "handler missing from its module")

MOST_NAMED = 3


def handler_missing_from_its_module(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a function or class whose name does not occur in its module.

    The runtime imports the module of a handler and looks up the name in it.
    """
    program = both.program
    if program.missing_handler is None:
        return
    few = program.definitions[:MOST_NAMED]
    has = f", such as {one_of(few)}" if few else ": it defines none"
    yield HANDLER_MISSING_FROM_ITS_MODULE.at(
        both.environment.program_path,
        f"`{both.name}` has no function or class `{program.missing_handler}`",
        label=did_you_mean(program.missing_handler, program.definitions),
        help=f"use a function or class of the module{has}",
    )


PROCESS_GROUP_WITHOUT_A_LAUNCHER = Rule("SM530", "process group without a launcher", "warning")


def process_group_without_a_launcher(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a script that forms a process group in a job that sets no variables for it.

    PyTorch reads RANK and WORLD_SIZE from the environment, and only launchers set them.
    """
    for group in both.program.process_groups[:1]:
        missing = [name for name in group.variables if name not in both.environment.variables]
        if both.environment.forms_groups or not missing:
            continue
        yield PROCESS_GROUP_WITHOUT_A_LAUNCHER.at(
            both.environment.program_path,
            f"`{both.name}` calls `init_process_group`, but the job sets no {one_of(missing)}",
            help="set `distribution: torchrun`, or set the variables in the script",
            notes=(Note("the script forms the group here", group.place),),
        )


AWS_CALL_IN_ISOLATION = Rule("SM539", "AWS call in an isolated job")

_ENDPOINTS = ("AWS_ENDPOINT_URL", "FSSPEC_S3")
"""A variable that begins with one of these sends calls to another address, such as a server in the container."""


def aws_call_in_isolation(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject network isolation where every run of the script calls AWS.

    An isolated container has neither a network nor credentials, so every call of AWS fails.
    """
    path = both.environment.isolation_path
    if path is None or any(name.startswith(_ENDPOINTS) for name in both.environment.variables):
        return
    for use in both.program.aws_uses[:1]:
        yield AWS_CALL_IN_ISOLATION.at(
            path,
            f"`{both.name}` calls `{use.written}`, but `network.isolation` is true",
            help="pass the data as a channel, or remove `network.isolation`",
            notes=(Note("the script calls AWS here", use.place),),
        )


INSTALLATION_WITHOUT_A_NETWORK = Rule("SM557", "installation without a network", "warning")

_SETS_AN_INDEX = (
    r"(?i)codeartifact|index[-_]url|pip[/.](?:conf|ini)\b|\bpip\W+config\b|https?_proxy|PIP_CONFIG_FILE|\.sh\b"
)
"""What a source contains that may give pip an index; a shell script may, too."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"


def installation_without_a_network(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about network isolation, or a VPC without an index of its own, where every run of the script runs pip.

    pip looks on PyPI for packages that the image lacks, which an isolated container, and many a VPC, cannot reach.
    """
    environment = both.environment
    path = environment.isolation_path or environment.unrouted_path
    if path is None or environment.packages is None:
        return
    for installation in both.program.installations:
        missing = [name for name in installation.packages if _normalized(name) not in environment.packages]
        if not missing:
            continue
        is_isolated = environment.isolation_path is not None
        if not is_isolated and any(re.search(_SETS_AN_INDEX, text.text) for text in both.program.texts):
            return
        key = "`network.isolation` is true" if is_isolated else "`network.subnets` might not reach PyPI"
        index = "" if is_isolated else ", or set `PIP_INDEX_URL` in `environment` to an index in the VPC"
        yield INSTALLATION_WITHOUT_A_NETWORK.at(
            path,
            f"`{both.name}` runs {quoted(f'pip install {missing[0]}')}, but {key}",
            help=f"install the package in the image{index}",
            notes=(
                Note("the script runs pip here", installation.place),
                Note("pip needs an index for packages that the image lacks"),
            ),
        )
        return


def _normalized(requirement: str) -> str:
    name = re.match(_NAME, requirement)
    return re.sub(r"[-_.]+", "-", name[0]).lower() if name else requirement


FILE_MISSING_FROM_THE_SOURCE = Rule("SM556", "file missing from the source")


def file_missing_from_the_source(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a script that reads a file by a relative path that its source does not have.

    The job starts the script in the directory of the source, where it ends with a FileNotFoundError.
    """
    if not both.environment.has_only_source:
        return
    for use in both.program.missing_files:
        what, lacks = f"reads {quoted(use.path)}", "the source does not have it"
        remedy = "add the file to the source, check `source.ignore`, or read the file from a channel"
        if use.section:
            what, lacks = f"reads section {quoted(use.section)} of {quoted(use.path)}", "the file does not have it"
            remedy = "add the section to the file, or give the call a `fallback`"
        yield FILE_MISSING_FROM_THE_SOURCE.at(
            both.environment.program_path,
            f"`{both.name}` {what}, but {lacks}",
            help=remedy,
            notes=(Note("every run of the script reads it here", use.place),),
        )


RULES = (
    misspelled_variable,
    unset_variable,
    misspelled_optional_variable,
    unset_environment_variable,
    handler_missing_from_its_module,
    process_group_without_a_launcher,
    aws_call_in_isolation,
    installation_without_a_network,
    file_missing_from_the_source,
)
