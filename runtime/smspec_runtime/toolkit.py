"""What the toolkit reads from hyperparameters and variables."""

import re

from .input_config import InputConfig
from .lean_typing import Environ, Json, List
from .refusal import Refused

LAUNCHERS = {
    "sagemaker_mpi_enabled": "mpi",
    "sagemaker_pytorch_ddp_enabled": "smdataparallel",
    "sagemaker_torch_distributed_enabled": "torchrun",
    "sagemaker_distributed_dataparallel_enabled": "smdataparallel",
    "sagemaker_pytorch_xla_multi_worker_enabled": "xla",
    "sagemaker_parameter_server_enabled": "parameter_server",
    "sagemaker_multi_worker_mirrored_strategy_enabled": "multi_worker_mirrored",
}
"""In the order of the toolkit."""

_OPTIONS = {
    "sagemaker_mpi_num_of_processes_per_host": "processes_per_host",
    "sagemaker_mpi_num_processes": "processes",
    "sagemaker_mpi_custom_mpi_options": "options",
    "sagemaker_distributed_dataparallel_custom_mpi_options": "options",
    "sagemaker_instance_type": "instance_type",
}

_GROUPS = "sagemaker_distribution_instance_groups"
PYTORCH = "sagemaker_pytorch_container."  # Sets variables on one host, too.


def is_of_sagemaker(module: str) -> bool:
    return bool(re.match(r"sagemaker_\w+_container\.", module))


def program_of(config: InputConfig, environ: Environ) -> str:
    return str(environ.get("SAGEMAKER_PROGRAM") or config.hyperparameters.sagemaker.get("sagemaker_program") or "")


def distribution_groups(config: InputConfig, has_launcher: bool) -> List[str]:
    """Those of the launcher."""
    framework = config.hyperparameters.framework
    has_launcher = has_launcher or any(framework.get(flag) for flag in LAUNCHERS)
    groups = framework.get(_GROUPS, [config.cluster.instance_group] if has_launcher else [])
    if not isinstance(groups, list):
        raise Refused(f"hyperparameter `{_GROUPS}` is not a list")
    return groups


def launcher_options(config: InputConfig) -> Json:
    framework = config.hyperparameters.framework
    options = {option: framework[name] for name, option in _OPTIONS.items() if framework.get(name)}
    if framework.get("sagemaker_parameter_server_enabled"):
        from importlib.util import find_spec

        from .launchers.parameter_server import FRAMEWORKS

        # SageMaker's containers have one framework.
        options["framework"] = next(filter(find_spec, FRAMEWORKS), None)
    return options
