"""The names of request members, of their types, and of their forms in messages."""

from __future__ import annotations

from smspec.diagnostics.quoting import duration, path_name
from smspec.service.shapes import Shape
from smspec.source import Path

_FORMS = {
    "ChannelName": "letters, digits, `.`, `-`, and `_`",
    "TrainingEnvironmentKey": "letters, digits, and `_`; do not begin with a digit",
    "FileSystemId": "`fs-` and at least 8 lowercase hexadecimal digits",
    "KmsKeyId": "a key ID, `alias/…`, or an ARN: letters, digits, and `: / _ -`",
    "RoleArn": "`arn:aws:iam::<12 digits>:role/<name>`",
    "S3Uri": "`s3://<bucket>/<key>`, without line breaks",
    "SecurityGroupId": "letters, digits, and `-`",
    "SubnetId": "letters, digits, and `-`",
    "TagKey": "letters, digits, spaces, and `_ . : / = + - @`",
    "TagValue": "letters, digits, spaces, and `_ . : / = + - @`",
    "TrainingJobName": "letters, digits, and hyphens; start and end with a letter or digit",
    "TrainingPlanArn": "`arn:aws:sagemaker:<region>:<account>:training-plan/<name>`",
}
_KINDS = {
    "structure": "a mapping",
    "map": "a mapping",
    "list": "a list",
    "string": "a string",
    "integer": "an integer",
    "long": "an integer",
    "boolean": "true or false",
}
_SHOWN = 60


def member(path: Path) -> str:
    """Return the name of the value at ``path`` in a message."""
    return path_name(path) if path else "the request"


def form(shape: Shape) -> str:
    """Return a description, or else the pattern, of the values of a shape; empty if a pattern explains nothing."""
    if shape.pattern in (None, ".*", ".+"):
        return ""
    return _FORMS.get(shape.name) or f"a value that matches `{shape.pattern}`"


def quantity(number: int, shape: Shape, *, in_spec_words: bool = False) -> str:
    """Return a number with its unit, for seconds in the notation of the author: of a request or of a spec."""
    if shape.name.endswith("InSeconds"):
        return time(number, in_spec_words=in_spec_words)
    return f"{number:,}{' GB' if shape.name.endswith('InGB') else ''}"


def time(seconds: int, *, in_spec_words: bool) -> str:
    """Return ``28,800 s`` or, in the notation of a spec, ``8h``."""
    return duration(seconds) if in_spec_words else f"{seconds:,} s"


def kind(shape: Shape) -> str:
    """Return the type of the values of a shape, in words."""
    return _KINDS[shape.kind]


def kind_of(value: object) -> str:
    """Return the type of a value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, float):
        return "a number with a fraction"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a mapping"


def shown(value: object) -> str:
    """Return a value for a message: in one line, truncated if it is long."""
    text = "".join(character if character.isprintable() else "�" for character in str(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
