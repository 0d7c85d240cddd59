"""What the compiler tells the runtime: the plan baked into the image, and the settings that travel with the job.

The only module that both sides share. The image holds a `RunPlan` (``run_plan.json``), so nothing in it may depend
on hyperparameters, channels or hosts; those ride in `RunSettings`, the reserved hyperparameter ``sagemaker_smspec``.
"""

import json

from .lean_typing import Any, Dict, List, NamedTuple, Optional

SETTINGS_HYPERPARAMETER = "sagemaker_smspec"
"""Holds the settings as JSON; continued in ``sagemaker_smspec_1``, ``_2`` … above `SETTINGS_LIMIT` characters."""

SETTINGS_LIMIT = 2500
"""Characters that one hyperparameter value may have (API shape HyperParameterValue)."""

RUNTIME_CHANNEL = "smspec"
CODE_CHANNEL = "code"


class RunPlan(NamedTuple):
    """How the program is started.

    ``kind``: script, command, module or pipe_loop. ``program``: the script, or ``module:name`` of module and pipe_loop.
    ``command``: words of a command. ``arguments`` come before those made of hyperparameters, in ``args_style``
    (toolkit, json, flags, none). ``launcher``: torchrun, mpi, parameter_server, smdataparallel, or None.
    ``delivery``: image, channel or s3 — where the code is.
    """

    kind: str
    program: str = ""
    command: List[str] = []
    arguments: List[str] = []
    args_style: str = "toolkit"
    launcher: Optional[str] = None
    delivery: str = "image"

    def to_json(self) -> str:
        """Return the bytes of ``run_plan.json`` as text: sorted keys, two blanks of indent, a final newline."""
        return json.dumps(self._asdict(), sort_keys=True, indent=2, ensure_ascii=True) + "\n"


class RunSettings(NamedTuple):
    """What the job, not the image, decides. Empty members are left out of the JSON.

    ``read``: channel → view. ``attributes``: channel → attribute names of an augmented manifest. ``prefetch``: bytes.
    ``open_timeout``: seconds. ``launcher``: options of the launcher (processes_per_host, port, options, framework).
    ``checkpoints``: CheckpointConfig.LocalPath where it is not /opt/ml/checkpoints. ``source``: digest of the files in
    the archive that is submitted.
    """

    epochs: Optional[int] = None
    read: Dict[str, str] = {}
    attributes: Dict[str, List[str]] = {}
    prefetch: Optional[int] = None
    open_timeout: Optional[int] = None
    launcher: Dict[str, Any] = {}
    checkpoints: Optional[str] = None
    source: Optional[str] = None

    def to_json(self) -> str:
        """Return the settings as compact JSON in ASCII."""
        members = {name: value for name, value in self._asdict().items() if value not in (None, {}, [])}
        return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


_KINDS = {"read": dict, "attributes": dict, "launcher": dict, "checkpoints": str, "source": str}


def decode_run_plan(text: str) -> RunPlan:
    """Read ``run_plan.json``. Raises ValueError when it is not a plan of this version."""
    return RunPlan(**_members(text, RunPlan._fields, "run_plan.json"))


def decode_run_settings(text: str) -> RunSettings:
    """Read the settings. Raises ValueError when they are not ours."""
    members = _members(text, RunSettings._fields, SETTINGS_HYPERPARAMETER)
    for name, value in members.items():
        if not isinstance(value, _KINDS.get(name, int)):
            raise ValueError(f"`{name}` has a value of another kind")
    return RunSettings(**members)


def _members(text: str, names: Any, what: str) -> Dict[str, Any]:
    members = json.loads(text)
    if not isinstance(members, dict) or not set(members) <= set(names):
        raise ValueError(f"{what} was written by another version of smspec")
    return members
