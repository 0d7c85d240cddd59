"""The plan of an image without one, as in the toolkit."""

from .input_config import InputConfig
from .lean_typing import Any, Environ
from .run_plan import RunPlan
from .toolkit import LAUNCHERS, distribution_groups, is_of_sagemaker, program_of
from .variables import find_on_path

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


def _launcher(config: InputConfig) -> Any:
    if config.cluster.instance_group not in distribution_groups(config, has_launcher=False):
        return None
    framework = config.hyperparameters.framework
    # The toolkit reads the text `False` as on.
    off = (None, False, 0, "", "False", "false")
    return next((LAUNCHERS[flag] for flag in LAUNCHERS if framework.get(flag) not in off), None)
