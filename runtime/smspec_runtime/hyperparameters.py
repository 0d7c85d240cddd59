"""``hyperparameters.json``."""

import json

from .lean_typing import Any, Json, NamedTuple
from .run_plan import SETTINGS_HYPERPARAMETER, RunSettings, decode_run_settings

_RESERVED = (
    "sagemaker_program sagemaker_submit_directory sagemaker_enable_cloudwatch_metrics sagemaker_region "
    "sagemaker_container_log_level sagemaker_job_name sagemaker_s3_output "
    "default_user_module_name _tuning_objective_metric"
)
RESERVED = _RESERVED.split()
"""Not for the program. Others with the prefix are framework parameters."""


class Hyperparameters(NamedTuple):
    """``user`` and ``sagemaker`` are decoded; ``written``: ``user`` as in the file."""

    user: Json = {}
    written: Json = {}
    sagemaker: Json = {}

    @property
    def framework(self) -> Json:
        return {name: value for name, value in self.sagemaker.items() if name not in RESERVED}


def split_hyperparameters(content: Json) -> Hyperparameters:
    hyperparameters = Hyperparameters({}, {}, {})
    for name, value in content.items():
        if (name + "_").startswith(SETTINGS_HYPERPARAMETER + "_"):
            continue
        if name in RESERVED or name.startswith("sagemaker_"):
            hyperparameters.sagemaker[name] = decoded(value)
        else:
            hyperparameters.user[name] = decoded(value)
            hyperparameters.written[name] = value
    return hyperparameters


def join_settings(content: Json) -> RunSettings:
    """Raise ValueError if they are invalid."""
    names = [SETTINGS_HYPERPARAMETER, *(f"{SETTINGS_HYPERPARAMETER}_{part}" for part in range(1, len(content)))]
    text = "".join(str(content[name]) for name in names if name in content)
    return decode_run_settings(text) if text else RunSettings()


def decoded(value: Any) -> Any:
    """Decode JSON; keep the rest."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
