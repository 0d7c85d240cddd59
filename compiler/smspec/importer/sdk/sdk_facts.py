"""What is known without running a program: of strings, lists, and mappings, of the SDK, and of AWS's packages."""

from __future__ import annotations

import json
import posixpath
import string

from smspec.importer.sdk.values import (
    LONGEST,
    Entries,
    Method,
    Reference,
    SdkInstance,
    SdkItems,
    SdkText,
    SdkUnknown,
    Value,
    forget,
    is_constant,
    joined,
    text_of,
)
from smspec.script.follow.constants import of_string, returns_text

SDK = "sagemaker"
ESTIMATORS = frozenset(
    ("Estimator", "PyTorch", "TensorFlow", "HuggingFace", "SKLearn", "XGBoost", "MXNet", "Chainer", "RLEstimator")
)
TRAINERS = frozenset(("ModelTrainer",))
_REGION = frozenset(("region_name", "boto_region_name", "_region_name"))
_ACCOUNT = frozenset(("account_id",))
_BUILTINS = frozenset(
    (
        *("print", "len", "str", "int", "float", "bool", "list", "dict", "tuple", "set", "sorted", "range"),
        *("enumerate", "zip", "isinstance", "type", "repr", "round", "max", "min", "abs", "open", "sum", "any", "all"),
        *("map", "filter", "display", "vars", "dir", "id", "iter", "next", "format", "getattr", "hasattr", "input"),
    )
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
    return kind.startswith(f"{SDK}.") and kind.rpartition(".")[2] in ESTIMATORS | TRAINERS


def is_builtin(name: str) -> bool:
    """Return whether a name is a function of Python that leaves its arguments unchanged."""
    return name in _BUILTINS


def leaves_arguments(name: str) -> bool:
    """Return whether a function, by its full name, only reads its arguments."""
    return name.partition(".")[0] in _READERS or name in _BUILTINS or name.startswith(f"{SDK}.")


def attribute_of(owner: Value, name: str, surroundings: Surroundings) -> Value:
    """Return an attribute."""
    if name in _REGION and isinstance(owner, SdkInstance | SdkUnknown | Reference | Method):
        return _own(owner, "region_name") or surroundings.region
    if name in _ACCOUNT and isinstance(owner, SdkInstance | SdkUnknown | Reference):
        return surroundings.account
    if isinstance(owner, Reference):
        return Reference(f"{owner.name}.{name}")
    if isinstance(owner, SdkInstance) and owner.is_known and name in owner.arguments:
        return owner.arguments[name]
    return Method(owner, name)


def _own(owner: Value, name: str) -> Value:
    return owner.arguments.get(name) if isinstance(owner, SdkInstance) else None


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
    if name == "json.dumps" and len(positional) == 1 and not named and is_constant(positional[0]):
        return json.dumps(positional[0])
    if name in ("pathlib.Path", "pathlib.PurePath") and len(positional) == 1:
        return positional[0] if isinstance(positional[0], str) else None
    return None


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


def item_of(owner: Value, key: Value, surroundings: Surroundings) -> Value:
    """Return ``owner[key]``."""
    if isinstance(owner, Entries) and is_constant(key):
        return owner.values[key] if owner.is_known and key in owner.values else SdkUnknown(str(key))
    if isinstance(owner, SdkItems) and isinstance(key, int):
        is_there = owner.is_known and -len(owner.values) <= key < len(owner.values)
        return owner.values[key] if is_there else SdkUnknown()
    if isinstance(owner, str) and isinstance(key, int) and -len(owner) <= key < len(owner):
        return owner[key]
    if isinstance(owner, SdkUnknown | SdkInstance | Reference) and key == "Account":
        return attribute_of(owner, "account_id", surroundings)
    return SdkUnknown(key if isinstance(key, str) and key.isidentifier() else "")


def method_of(owner: Value, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    """Return the result of a method of a value that is no object of the SDK. It changes lists and mappings."""
    if isinstance(owner, str):
        return _of_string(owner, name, positional, named)
    if isinstance(owner, SdkText):
        return SdkUnknown(is_text=returns_text(name))
    if isinstance(owner, Entries):
        return _of_mapping(owner, name, positional, named)
    if isinstance(owner, SdkItems):
        return _of_list(owner, name, positional)
    for value in (*positional, *named.values()):
        forget(value)
    return SdkUnknown()


def _of_string(owner: str, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    if name == "format":
        return _format(owner, positional, named)
    if name == "join" and len(positional) == 1 and isinstance(positional[0], SdkItems) and positional[0].is_known:
        parts = [part for item in positional[0].values for part in (owner, item)][1:]
        return joined(*parts) if all(isinstance(part, str | SdkText | SdkUnknown) for part in parts) else SdkUnknown()
    if name in ("split", "rsplit") and not named and len(positional) <= 1:
        by = positional[0] if positional else None
        if (by is None or isinstance(by, str)) and by != "":
            return SdkItems(list(owner.split(by)))
        return SdkUnknown()
    is_known = not named and all(map(is_constant, positional))
    found = of_string(owner, name, positional) if is_known else None
    return SdkUnknown(is_text=returns_text(name)) if found is None else found


def _format(pattern: str, positional: list[Value], named: dict[str, Value]) -> Value:
    """Return the result of ``format`` with plain fields: ``{}``, ``{0}``, and ``{name}``."""
    parts: list[Value] = []
    automatic = 0
    try:
        for text, field, wanted, conversion in string.Formatter().parse(pattern):
            parts.append(text)
            if field is None:
                continue
            if wanted or conversion not in (None, "s"):
                return SdkUnknown(is_text=True)
            key: object = field
            if field == "":
                key, automatic = automatic, automatic + 1
            elif field.isdigit():
                key = int(field)
            value = positional[key] if isinstance(key, int) else named[str(key)]
            parts.append(text_of(value))
    except (ValueError, KeyError, IndexError):
        return SdkUnknown(is_text=True)
    return joined(*parts)


def _of_mapping(owner: Entries, name: str, positional: list[Value], named: dict[str, Value]) -> Value:
    if name == "update" and len(positional) <= 1:
        given = positional[0] if positional else Entries({})
        owner.is_known &= isinstance(given, Entries) and given.is_known
        if isinstance(given, Entries):
            owner.values.update(given.values)
        owner.values.update(named)
        return None
    if name == "copy":
        found = Entries(dict(owner.values))
        found.is_known = found.is_known and owner.is_known
        return found
    is_key = bool(positional) and is_constant(positional[0])
    if not owner.is_known or (not is_key and name in ("get", "pop", "setdefault")):
        owner.is_known &= name in ("get", "keys", "values", "items")
        return SdkUnknown()
    default = positional[1] if len(positional) > 1 else None
    match name:
        case "get":
            return owner.values.get(positional[0], default)
        case "pop":
            return owner.values.pop(positional[0], default)
        case "setdefault":
            return owner.values.setdefault(positional[0], default)
        case "keys":
            return SdkItems([key for key in owner.values if isinstance(key, str | int | float | None)])
        case "values":
            return SdkItems(list(owner.values.values()))
        case "items":
            pairs = owner.values.items()
            return SdkItems([SdkItems([key, item], is_fixed=True) for key, item in pairs if isinstance(key, str | int)])
    forget(owner)
    return SdkUnknown()


def _of_list(owner: SdkItems, name: str, positional: list[Value]) -> Value:
    if name == "append" and len(positional) == 1:
        owner.values.append(positional[0])
        owner.is_known &= len(owner.values) <= LONGEST
        return None
    if name == "extend" and len(positional) == 1 and isinstance(positional[0], SdkItems):
        owner.is_known &= positional[0].is_known and len(owner.values) + len(positional[0].values) <= LONGEST
        if owner.is_known:
            owner.values += positional[0].values
        return None
    if name == "copy":
        found = SdkItems(list(owner.values))
        found.is_known = owner.is_known
        return found
    if name not in ("index", "count"):
        forget(owner)
    return SdkUnknown()
