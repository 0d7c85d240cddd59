"""The plan of an image without one, as in the toolkit."""

import re

from .input_config import InputConfig
from .lean_typing import Any, Environ, Json, List
from .refusal import Refused
from .run_plan import RunPlan
from .variables import find_on_path

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
_TOOLKITS = (b"sagemaker_training", b"sagemaker_containers", b"smspec_runtime")


def plan_of(config: InputConfig, environ: Environ) -> RunPlan:
    module = environ.get("SAGEMAKER_TRAINING_MODULE", "")
    program = program_of(config, environ)
    # Without a program: a built-in algorithm, as XGBoost's.
    if module and not (program and only_starts(module, config)):
        return RunPlan(kind="framework", program=module, args_style="none")
    if not program and has_own_train(environ):
        return RunPlan(kind="command", command=["train"], args_style="none")
    return RunPlan(kind="script", program=program, launcher=_launcher(config), delivery="s3")


def is_of_sagemaker(module: str) -> bool:
    return bool(re.match(r"sagemaker_\w+_container\.", module))


def only_starts(module: str, config: InputConfig) -> bool:
    """Whether a module of SageMaker does nothing else."""
    is_tuned = "_tuning_objective_metric" in config.hyperparameters.sagemaker
    # Chainer's starts MPI; TensorFlow's gives each job of a tuning job a model directory.
    does_more = module.startswith("sagemaker_chainer") or (is_tuned and module.startswith("sagemaker_tensorflow"))
    return is_of_sagemaker(module) and not does_more


def has_own_train(environ: Environ) -> bool:
    """Whether `train` is the image's, not a toolkit's or our caller's."""
    path = find_on_path("train", environ)
    if not path or environ.get("SM_USER_ENTRY_POINT") == "train":
        return False
    with open(path, "rb") as file:
        beginning = file.read(4096)
    return not any(toolkit in beginning for toolkit in _TOOLKITS)


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
    """Hyperparameters under the names of the settings."""
    framework = config.hyperparameters.framework
    options = {option: framework[name] for name, option in _OPTIONS.items() if framework.get(name)}
    if framework.get("sagemaker_parameter_server_enabled"):
        from importlib.util import find_spec

        from .launchers.parameter_server import FRAMEWORKS

        # SageMaker's containers have one framework.
        options["framework"] = next(filter(find_spec, FRAMEWORKS), None)
    return options


def _launcher(config: InputConfig) -> Any:
    if config.cluster.instance_group not in distribution_groups(config, has_launcher=False):
        return None
    framework = config.hyperparameters.framework
    # The toolkit reads the text `False` as on.
    off = (None, False, 0, "", "False", "false")
    return next((LAUNCHERS[flag] for flag in LAUNCHERS if framework.get(flag) not in off), None)
