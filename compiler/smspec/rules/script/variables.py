"""Rules about the environment variables that a script reads."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import distance
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.script_environment import is_set, near_variable
from smspec_runtime.secret_names import LIKELY, strength

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


RULES = (
    misspelled_variable,
    unset_variable,
    misspelled_optional_variable,
    unset_environment_variable,
)
