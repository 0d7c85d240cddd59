"""What ``hyperparameters.json`` says: the author's values, and those that SageMaker's tools put beside them."""

import json

from .lean_typing import Any, Dict, NamedTuple
from .run_plan import SETTINGS_HYPERPARAMETER, RunSettings, decode_run_settings

PREFIX = "sagemaker_"
RESERVED = (
    "sagemaker_program",
    "sagemaker_submit_directory",
    "sagemaker_enable_cloudwatch_metrics",
    "sagemaker_region",
    "sagemaker_container_log_level",
    "sagemaker_job_name",
    "sagemaker_s3_output",
    "default_user_module_name",
    "_tuning_objective_metric",
)
"""Never reach the program. Any other name with the prefix is a framework parameter (SM_FRAMEWORK_PARAMS)."""


class Hyperparameters(NamedTuple):
    """``user``: decoded, in the order of the file. ``written``: the same as the file spells them.

    ``sagemaker``: decoded, reserved names and framework parameters, without our own.
    """

    user: Dict[str, Any] = {}
    written: Dict[str, Any] = {}
    sagemaker: Dict[str, Any] = {}

    @property
    def framework(self) -> Dict[str, Any]:
        return {name: value for name, value in self.sagemaker.items() if name not in RESERVED}


def split_hyperparameters(content: Dict[str, Any]) -> Hyperparameters:
    """Decode the values and divide them by who they are for. Our own settings are left out."""
    user = {}
    written = {}
    sagemaker = {}
    for name, value in content.items():
        if is_setting(name):
            continue
        if name in RESERVED or name.startswith(PREFIX):
            sagemaker[name] = decode(value)
        else:
            user[name] = decode(value)
            written[name] = value
    return Hyperparameters(user, written, sagemaker)


def decode(value: Any) -> Any:
    """Return what a value means: its JSON where it is JSON, else itself. Values that are no text stay as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def is_setting(name: str) -> bool:
    """Whether a hyperparameter is a part of the settings: ``sagemaker_smspec``, ``sagemaker_smspec_1`` …"""
    if name == SETTINGS_HYPERPARAMETER:
        return True
    stem, _, number = name.rpartition("_")
    return stem == SETTINGS_HYPERPARAMETER and number.isdigit()


def join_settings(content: Dict[str, Any]) -> RunSettings:
    """Put the parts of the settings together. Raises ValueError when they are not ours."""
    text = str(content.get(SETTINGS_HYPERPARAMETER, ""))
    number = 1
    while f"{SETTINGS_HYPERPARAMETER}_{number}" in content:
        text += str(content[f"{SETTINGS_HYPERPARAMETER}_{number}"])
        number += 1
    return decode_run_settings(text) if text else RunSettings()
