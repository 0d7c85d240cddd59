"""What is known without running a program: of the SDK, of AWS's packages, and of functions of Python."""

from __future__ import annotations

import json
import posixpath

from smspec.importer.sdk.values import (
    Entries,
    SdkInstance,
    SdkItems,
    SdkText,
    SdkUnknown,
    Value,
    is_constant,
    joined,
    text_of,
)
from smspec.script.follow import values as followed
from smspec.script.follow.facts import COPIERS, LOOKERS
from smspec.script.follow.values import UNKNOWN, Bound, Named

SDK = "sagemaker"
ESTIMATORS = frozenset(
    ("Estimator", "PyTorch", "TensorFlow", "HuggingFace", "SKLearn", "XGBoost", "MXNet", "Chainer", "RLEstimator")
)
BASES = frozenset(("Framework", "EstimatorBase"))
"""Classes that a program can only derive others from."""

TRAINERS = frozenset(("ModelTrainer",))
_REGION = frozenset(("region_name", "boto_region_name", "_region_name"))
_ACCOUNT = frozenset(("account_id",))
_BUILTINS = (
    LOOKERS
    | COPIERS
    | {"range", "type", "round", "abs", "open", "map", "filter", "display", "vars", "dir", "iter", "next", "format"}
    | {"getattr", "input"}
)
_READERS = frozenset(
    (
        *("json", "os", "pprint", "pandas", "numpy", "boto3", "botocore", "datetime", "time", "sys", "re", "math"),
        *("random", "logging", "matplotlib", "copy", "shutil", "pathlib", "IPython", "s3fs", "warnings"),
        *("uuid", "string", "itertools", "functools", "collections", "tarfile", "urllib", "requests"),
    )
)
PARAMETERS = ("ParameterString", "ParameterInteger", "ParameterFloat", "ParameterBoolean")
"""Values that the run of a pipeline has."""

_OF_A_RECIPE = frozenset(
    ("SFTTrainer", "DPOTrainer", "RLVRTrainer", "RLAIFTrainer", "CPTTrainer", "MultiTurnRLTrainer")
)
_DEEPEST = 20
REMOTE = ("remote", "RemoteExecutor")
"""What runs a function of the program in a training job."""

_RETURN_TEXT = (
    "model_uris.retrieve",
    "script_uris.retrieve",
    "instance_types.retrieve_default",
    "S3Uploader.upload",
    "S3Uploader.upload_string_as_file_body",
)


class Surroundings:
    """What only a run has, and what every call for it returns: the role, the bucket, the region, the account."""

    def __init__(self) -> None:
        self.role = SdkUnknown("role", is_text=True)
        self.bucket = SdkUnknown("bucket", is_text=True)
        self.region = SdkUnknown("region", is_text=True)
        self.account = SdkUnknown("account", is_text=True)


def is_job_class(kind: str) -> bool:
    """Return whether a full name is that of a class whose objects start training jobs."""
    return kind.startswith(f"{SDK}.") and kind.rpartition(".")[2] in ESTIMATORS | BASES | TRAINERS


def is_of_the_sdk(name: str) -> bool:
    """Return whether something belongs to the SDK or boto3, by its full name."""
    return name.startswith((f"{SDK}.", f"{SDK}_core.", "boto3."))


def why_not_imported(kind: str) -> str:
    """Return why a job of another class or function of the SDK is not imported, and what to do instead."""
    last = kind.rpartition(".")[2]
    why = "smspec does not read this class of the SDK"
    if last in _OF_A_RECIPE:
        why = "the SDK takes image, hosts, and hyperparameters from a recipe in SageMaker's hub when the program runs"
    elif "jumpstart" in kind.lower():
        why = "the SDK takes image, script, and hyperparameters from the catalog of JumpStart when the program runs"
    elif last in REMOTE:
        why = "the SDK sends a pickled function with a start command that only the SDK has"
    return f"{why}; start it once, then import the job by its name"


def is_builtin(name: str) -> bool:
    """Return whether a name is a function of Python that leaves its arguments unchanged."""
    return name in _BUILTINS


def leaves_arguments(name: str) -> bool:
    """Return whether a function, by its full name, only reads its arguments."""
    return name.partition(".")[0] in _READERS or name in _BUILTINS or name.startswith(f"{SDK}.")


def attribute_of(owner: followed.Value, name: str, surroundings: Surroundings) -> Value:
    """Return an attribute of what only a run has; None for that of all others."""
    if isinstance(owner, SdkInstance) and name in owner.arguments:
        return None
    if name in _REGION and is_open(owner):
        return (owner.arguments.get("region_name") if isinstance(owner, SdkInstance) else None) or surroundings.region
    if name in _ACCOUNT and is_open(owner) and not isinstance(owner, Bound):
        return surroundings.account
    is_named = isinstance(owner, SdkInstance | Named) or not is_open(owner)
    return None if is_named else Bound(SdkUnknown() if owner is UNKNOWN else owner, name)


def item_of(owner: followed.Value, key: followed.Value, surroundings: Surroundings) -> SdkUnknown | None:
    """Return what is under a key of what only a run has, named after the key; None for all others."""
    name = key.constant()
    if name == "Account" and is_open(owner) and not isinstance(owner, Bound):
        return surroundings.account
    return SdkUnknown(name if isinstance(name, str) and name.isidentifier() else "") if is_open(owner) else None


def is_open(value: followed.Value) -> bool:
    """Return whether only a run has what is in a value."""
    return value is UNKNOWN or isinstance(value, SdkInstance | SdkUnknown | Named | Bound)


def result_of(name: str, positional: list[Value], named: dict[str, Value], surroundings: Surroundings) -> Value | None:
    """Return the result of a function by its full name; None if it is not known."""
    last = name.rpartition(".")[2]
    if last == "get_execution_role":
        return surroundings.role
    if name == "os.getcwd" and not positional:
        return "."
    if name.endswith(_RETURN_TEXT):
        return SdkUnknown(is_text=True)
    if name in ("os.path.join", "posixpath.join", "ntpath.join") or last == "s3_path_join":
        return _path(positional, is_s3=last == "s3_path_join") if not named else None
    if name == "str" and len(positional) == 1 and not named:
        return text_of(positional[0])
    if name in ("int", "float") and len(positional) == 1 and isinstance(positional[0], int | float):
        try:
            return int(positional[0]) if name == "int" else float(positional[0])
        except (ArithmeticError, ValueError):
            return None
    if name == "len" and len(positional) == 1:
        return _length(positional[0])
    if name == "json.dumps" and len(positional) == 1 and not named:
        written = _written(positional[0])
        return None if written is ... else json.dumps(written)
    if name in ("pathlib.Path", "pathlib.PurePath") and len(positional) == 1:
        return positional[0] if isinstance(positional[0], str) else None
    return None


def as_json_texts(given: dict[str, Value]) -> dict[str, Value]:
    """Return what `set_hyperparameters` of a framework keeps: JSON, which the request has as JSON once more."""
    written = {name: _written(value) for name, value in given.items()}
    return {
        name: json.dumps(written[name]) if written[name] is not ... else _as_unknown(value, name)
        for name, value in given.items()
    }


def _as_unknown(value: Value, name: str) -> Value:
    return value if isinstance(value, SdkUnknown | SdkText) else SdkUnknown(name)


def _written(value: Value, depth: int = 0) -> object:
    """Return a value as Python's own; `...` if a part of it is not known."""
    if not isinstance(value, SdkItems | Entries):
        return value if is_constant(value) else ...
    if not value.is_known or depth > _DEEPEST:
        return ...
    parts = {key: _written(part, depth + 1) for key, part in value.members().items()}
    if ... in parts.values():
        return ...
    return list(parts.values()) if isinstance(value, SdkItems) else parts


def _length(value: Value) -> Value | None:
    if isinstance(value, str):
        return len(value)
    return len(value.values) if isinstance(value, SdkItems | Entries) and value.is_known else None


def _path(parts: list[Value], *, is_s3: bool) -> Value | None:
    if not parts or not all(isinstance(part, str | SdkText | SdkUnknown) for part in parts):
        return None
    if all(isinstance(part, str) for part in parts) and not is_s3:
        return posixpath.join(*(str(part) for part in parts))
    found: list[Value] = [parts[0]]
    for part in parts[1:]:
        beginning = part.parts[0] if isinstance(part, SdkText) else part
        if isinstance(beginning, str) and beginning.startswith("/"):
            return None
        end = found[-1].parts[-1] if isinstance(found[-1], SdkText) else found[-1]
        found += [part] if isinstance(end, str) and end.endswith("/") else ["/", part]
    return joined(*found)
