"""The compiler's input for the runtime: `RunPlan` in the image, `RunSettings` in the job."""

import json

from .lean_typing import Any, Dict, Json, List, NamedTuple, Optional

SETTINGS_HYPERPARAMETER = "sagemaker_smspec"
"""The settings as JSON; continued in ``sagemaker_smspec_1``, ``_2`` …"""

SECRET_ARN = (
    r"(?a)(?P<arn>arn:(?P<partition>aws[a-z-]*):(?:(?P<is_secret>secretsmanager)|ssm):(?P<region>[a-z0-9-]+):"
    r"(?P<account>\d{12}):(?(is_secret)secret:|parameter/)(?P<name>[\w/+=.@-]+))"
    r"(?::(?P<field>[^:]*)(?(is_secret)(?::(?P<stage>[^:]*))?(?::(?P<version>[^:]*))?))?"
)
"""Of a secret: JSON field, stage and version, as in ECS. Of a parameter, ``field`` is the version or label."""

RUNTIME_CHANNEL = "smspec"
CODE_CHANNEL = "code"


class RunPlan(NamedTuple):
    """``kind``: script, command, module or pipe_loop; ``program``: the script, or ``module:name``; ``arguments``:
    before those of ``args_style`` (toolkit, json, flags, none); ``delivery``: image, channel or s3."""

    kind: str
    program: str = ""
    command: List[str] = []
    arguments: List[str] = []
    args_style: str = "toolkit"
    launcher: Optional[str] = None
    delivery: str = "image"


class RunSettings(NamedTuple):
    """``read``: channel → view; ``attributes``: channel → names; ``prefetch`` in bytes; ``open_timeout`` in seconds;
    ``checkpoints``: LocalPath; ``source``: digest; ``secrets``: variable → ARN."""

    epochs: Optional[int] = None
    read: Dict[str, str] = {}
    attributes: Dict[str, List[str]] = {}
    prefetch: Optional[int] = None
    open_timeout: Optional[int] = None
    launcher: Json = {}
    checkpoints: Optional[str] = None
    source: Optional[str] = None
    secrets: Dict[str, str] = {}


_KINDS = {"read": dict, "attributes": dict, "launcher": dict, "checkpoints": str, "source": str, "secrets": dict}


def decode_run_plan(text: str) -> RunPlan:
    """Raise ValueError if this version cannot use it."""
    return RunPlan(**_members(text, RunPlan, "run_plan.json"))


def decode_run_settings(text: str) -> RunSettings:
    members = _members(text, RunSettings, SETTINGS_HYPERPARAMETER)
    for name, value in members.items():
        if not isinstance(value, _KINDS.get(name, int)):
            raise ValueError(f"`{name}` has a value of another kind")
    return RunSettings(**members)


def _members(text: str, kind: Any, what: str) -> Json:
    members = json.loads(text)
    if not isinstance(members, dict) or not members.keys() <= set(kind._fields):
        raise ValueError(f"{what} was written by another version of smspec")
    return members
