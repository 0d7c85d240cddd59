"""SageMaker's own images: modules that only start the author's program."""

import re

from .hyperparameters import Hyperparameters
from .lean_typing import Environ
from .variables import find_on_path

_MODULE = re.compile(r"sagemaker_\w+_container\.")
PYTORCH = "sagemaker_pytorch_container."  # Sets PyTorch's variables, on one host too.
_TOOLKITS = (b"sagemaker_training", b"sagemaker_containers", b"smspec_runtime")


def is_of_sagemaker(module: str) -> bool:
    return bool(_MODULE.match(module))


def only_starts(module: str, hyperparameters: Hyperparameters) -> bool:
    """Whether a module of SageMaker does nothing else."""
    is_tuned = "_tuning_objective_metric" in hyperparameters.sagemaker
    # Chainer's starts MPI in its own way; TensorFlow's gives each job of a tuning job a model directory.
    does_more = module.startswith("sagemaker_chainer") or (is_tuned and module.startswith("sagemaker_tensorflow"))
    return is_of_sagemaker(module) and not does_more


def has_own_train(environ: Environ) -> bool:
    """Whether `train` on PATH belongs to the image, not to a toolkit or our caller."""
    path = find_on_path("train", environ)
    if not path or environ.get("SM_USER_ENTRY_POINT") == "train":
        return False
    with open(path, "rb") as file:
        beginning = file.read(4096)
    return not any(toolkit in beginning for toolkit in _TOOLKITS)
