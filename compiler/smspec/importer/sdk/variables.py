"""The variables of an imported spec, one for each value that only a run of the program has, and hyperparameters.

The SDK sends hyperparameters as JSON for frameworks, by `str` for estimators of plain images.
"""

from __future__ import annotations

import json
import re

from smspec.importer.imported import Variable
from smspec.importer.marks import mark
from smspec.importer.sdk.values import Entries, SdkItems, SdkText, SdkUnknown, Value, is_constant

_PLACEHOLDERS = {
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "bucket": "example-bucket",
    "region": "us-west-2",
    "account": "111122223333",
    "debugger_image": "895741380848.dkr.ecr.us-west-2.amazonaws.com/sagemaker-debugger-rules:latest",
}
_BY_ARGUMENT: dict[str, object] = {
    **_PLACEHOLDERS,
    "domain": "amazonaws.com",
    "image_uri": "111122223333.dkr.ecr.us-west-2.amazonaws.com/example:1",
    "instance_type": "ml.m5.xlarge",
    "instance_count": 1,
    "volume_size": 30,
    "max_run": 3600,
    "max_wait": 7200,
    "max_retry_attempts": 1,
    "keep_alive_period_in_seconds": 600,
    "subnets": "subnet-0aa0aa0aa0aa0aa00",
    "security_group_ids": "sg-0bb0bb0bb0bb0bb00",
    "input_mode": "File",
    "distribution_type": "FullyReplicated",
    "uri": "s3://example-bucket/example",
    "entry_point": "train.py",
    "source_dir": "src",
    "kms_key": "arn:aws:kms:us-west-2:111122223333:key/example",
    "file_system_id": "fs-0123456789abcdef0",
}

_CHANGED = "a loop, a branch, or another function changes it"

_DESCRIPTIONS = {
    "role": "role of the job; the source uses its own",
    "bucket": "bucket of S3; the source uses the default one of its session",
    "region": "AWS region of the job",
    "account": "AWS account of the job",
    "debugger_image": "image of Debugger's rules, which each region has in another account",
}


class NotResolved(Exception):
    """A value that no variable can stand for; the text explains why."""


class Variables:
    """The variables, in the order of their first use."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._kept: list[SdkUnknown] = []
        self.declared: dict[str, Variable] = {}

    def mark(self, value: SdkUnknown, argument: str) -> str:
        """Return the text that stands for an unknown value; ``argument``: where it is first used."""
        name = self._names.get(id(value))
        if name is None:
            stem = re.sub(r"[^a-z0-9_]+", "_", (value.name or argument).lower()).strip("_") or "value"
            stem = stem if stem[0].isalpha() else f"value_{stem}"
            name, count = stem[:40], 1
            while name in self.declared:
                count += 1
                name = f"{stem[:40]}_{count}"
            self._names[id(value)] = name
            self._kept.append(value)
            usual = _BY_ARGUMENT.get(argument, _PLACEHOLDERS.get(stem))
            description = _DESCRIPTIONS.get(stem, f"`{value.name or argument}` of the source")
            self.declared[name] = Variable(name, "example" if usual is None else usual, description)
        return mark(name)

    def _text(self, parts: tuple[str | SdkUnknown, ...], argument: str) -> str:
        found = ""
        for index, part in enumerate(parts):
            if isinstance(part, str):
                found += part
            else:
                after = parts[index + 1] if index + 1 < len(parts) else ""
                kind = _kind(argument, found, after if isinstance(after, str) else "")
                found += self.mark(part, kind)
        return found

    def json(self, value: Value, argument: str, *, depth: int = 0) -> object:
        """Return a value as JSON, with marks where it is unknown; raise `NotResolved` if no mark can stand for it."""
        if isinstance(value, SdkUnknown):
            return self.mark(value, argument)
        if isinstance(value, SdkText):
            return self._text(value.parts, argument)
        if isinstance(value, SdkItems | Entries) and depth < 20:
            if not value.is_known:
                raise NotResolved("a loop, a branch, or another function changes it")
            if isinstance(value, SdkItems):
                return [self.json(item, argument, depth=depth + 1) for item in value.values]
            return {str(name): self.json(item, argument, depth=depth + 1) for name, item in value.values.items()}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise NotResolved("its value is known only when the program runs")


def _kind(argument: str, before: str, after: str) -> str:
    """Return what a part of a string stands for, by its neighbors."""
    if argument == "uri" and not before:
        return "uri"
    if before.endswith("://"):
        return "bucket"
    if after.startswith(".dkr.ecr"):
        return "account"
    if ".dkr.ecr." in before:
        return "region" if before.endswith(".dkr.ecr.") else "domain" if "/" not in before else ""
    return ""


def hyperparameters(
    values: Value, variables: Variables, *, as_json: bool, is_serialized: bool = False
) -> dict[str, object]:
    """Return HyperParameters; raise `NotResolved` if their names, or a value that is no scalar, are not known.

    ``is_serialized``: strings are sent as they are, and everything else as JSON.
    """
    if values is None:
        return {}
    if not isinstance(values, Entries) or not values.is_known:
        raise NotResolved(_CHANGED if isinstance(values, Entries) else "its value is known only when the program runs")
    return {
        str(name): _sent(str(name), value, variables, as_json or (is_serialized and not _is_text(value)))
        for name, value in values.values.items()
    }


def _sent(name: str, value: Value, variables: Variables, as_json: bool) -> str:
    if isinstance(value, SdkUnknown):
        return json.dumps(variables.mark(value, name)) if as_json else variables.mark(value, name)
    if isinstance(value, SdkItems | Entries) and not _is_certain(value):
        raise NotResolved(f"a part of `{name}` is known only when the program runs")
    plain = variables.json(value, name)
    if as_json:
        return json.dumps(plain)
    if isinstance(value, SdkItems) and value.is_fixed:
        return str(tuple(plain)) if isinstance(plain, list) else str(plain)
    return str(plain)


def _is_text(value: Value) -> bool:
    return isinstance(value, str | SdkText | SdkUnknown)


def _is_certain(value: Value, depth: int = 0) -> bool:
    """Return whether all parts are constants or strings; a part that may be a number has no text of its own."""
    if isinstance(value, SdkItems | Entries):
        inner = value.values if isinstance(value, SdkItems) else value.values.values()
        return value.is_known and depth < 20 and all(_is_certain(item, depth + 1) for item in inner)
    return is_constant(value) or isinstance(value, SdkText) or (isinstance(value, SdkUnknown) and value.is_text)
