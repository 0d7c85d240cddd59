"""A script that requires a variable ends with a KeyError if neither the image nor the job sets it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.sagemaker_variables import near_variable
from smspec_runtime.secret_names import LIKELY, strength

RULE = Rule("SM526", "unset environment variable", "warning")

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


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable that the script requires, in an image whose variables are known."""
    if not both.environment.is_bare:
        return
    for read in both.program.other_variables:
        is_set = read.written in both.environment.variables or may_be_set(read.written)
        if is_set or near_variable(read.written) is not None:
            continue
        yield RULE.at(
            both.environment.program_path,
            f"`{both.name}` requires the variable `{read.written}`, but the job does not set it",
            help=f"set `{read.written}` in `{_key(read.written)}`, or read it with a default in the script",
            notes=read_at(read.place),
        )
