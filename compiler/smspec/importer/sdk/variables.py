"""The variables of an imported spec, one for each value that only a run of the program has, and mappings with these.

In hyperparameters, environment, and tags, what is unknown is a variable, or is listed, and never hides its neighbors.
The SDK sends hyperparameters as JSON for frameworks, by `str` for estimators of plain images.
"""

from __future__ import annotations

import json
import re

from smspec.importer.imported import NotImported, Variable
from smspec.importer.marks import mark
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, Value, is_constant

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
    "registry": "111122223333.dkr.ecr.us-west-2.amazonaws.com",
    "repository": "111122223333.dkr.ecr.us-west-2.amazonaws.com/example",
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
NOT_KNOWN = "its value is known only when the program runs"
MORE = "a loop, a branch, `**`, or another function may add entries, or replace these, when the program runs"

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
        self._kept: list[Value] = []
        self.declared: dict[str, Variable] = {}

    def mark(self, value: Value, argument: str, kind: str | None = None) -> str:
        """Return the text that stands for an unknown value.

        ``argument``: where it is first used; ``kind``: what stands there, if that is only a part of the argument.
        """
        name = self._names.get(id(value))
        if name is None:
            kind = argument if kind is None else kind
            called = value.name if isinstance(value, SdkUnknown | SdkInstance) else ""
            called = called or kind or (argument if argument not in _BY_ARGUMENT else "value")
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", called)
            stem = re.sub(r"[^a-z0-9_]+", "_", words.lower()).strip("_") or "value"
            stem = stem if stem[0].isalpha() else f"value_{stem}"
            name, count = stem[:40], 1
            while name in self.declared:
                count += 1
                name = f"{stem[:40]}_{count}"
            self._names[id(value)] = name
            self._kept.append(value)
            usual = _BY_ARGUMENT.get(kind, _PLACEHOLDERS.get(stem))
            description = _DESCRIPTIONS.get(stem, f"`{called}` of the source")
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
                found += self.mark(part, argument, kind)
        return found

    def json(self, value: Value, argument: str, *, depth: int = 0) -> object:
        """Return a value as JSON, with marks where it is unknown; raise `NotResolved` if no mark can stand for it."""
        if isinstance(value, SdkUnknown) or (isinstance(value, SdkInstance) and argument in _BY_ARGUMENT):
            return self.mark(value, argument)
        if isinstance(value, SdkText):
            return self._text(value.parts, argument)
        if isinstance(value, SdkItems | Entries) and depth < 20:
            if not value.is_known:
                raise NotResolved(_CHANGED)
            if isinstance(value, SdkItems):
                return [self.json(item, argument, depth=depth + 1) for item in value.values]
            return {str(name): self.json(item, argument, depth=depth + 1) for name, item in value.values.items()}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise NotResolved(NOT_KNOWN)

    def one(self, value: Value, name: str) -> object:
        """Return the value of an entry that is no collection in the API; a mark for all that is not resolved."""
        try:
            return self.json(value, name)
        except NotResolved:
            return self.mark(value, name)


def _kind(argument: str, before: str, after: str) -> str:
    """Return what a part of a string stands for, by its neighbors."""
    if argument == "uri" and not before:
        return "uri"
    if argument == "image_uri" and not before and after[:1] in ("/", ":"):
        return "registry" if after[0] == "/" else "repository"
    if before.endswith("://"):
        return "bucket"
    if after.startswith(".dkr.ecr"):
        return "account"
    if ".dkr.ecr." in before:
        return "region" if before.endswith(".dkr.ecr.") else "domain" if "/" not in before else ""
    return ""


def entries_of(values: Value, name: str) -> tuple[dict[str, Value], list[NotImported]]:
    """Return the entries of the mapping that an argument is, and what is not known of it."""
    if values is None:
        return {}, []
    if not isinstance(values, Entries):
        return {}, [NotImported((name,), NOT_KNOWN)]
    known = {str(key): value for key, value in values.values.items()}
    return known, [] if values.is_known else [NotImported((name,), MORE if known else NOT_KNOWN)]


def environment_and_tags(
    environment: Value, tags: Value, variables: Variables
) -> tuple[dict[str, object], list[NotImported]]:
    """Return these members of a request, as far as they are not empty, and what is not known of them."""
    known, lost = entries_of(environment, "environment")
    sent = {name: variables.one(value, name) for name, value in known.items()}
    listed, more = _tags(tags, variables)
    return {name: value for name, value in (("Environment", sent), ("Tags", listed)) if value}, [*lost, *more]


def _tags(values: Value, variables: Variables) -> tuple[list[object], list[NotImported]]:
    """Return Tags, and what is not known of them. The SDK takes a mapping, too."""
    if isinstance(values, Entries):
        known, lost = entries_of(values, "tags")
        return [{"Key": name, "Value": variables.one(value, name)} for name, value in known.items()], lost
    if not isinstance(values, SdkItems):
        return [], [] if values is None else [NotImported(("tags",), NOT_KNOWN)]
    found: list[object] = []
    lost = [] if values.is_known else [NotImported(("tags",), MORE if values.values else NOT_KNOWN)]
    for index, item in enumerate(values.values):
        given = item.arguments if isinstance(item, SdkInstance) else item.values if isinstance(item, Entries) else {}
        members = {str(name).lower(): value for name, value in given.items()}
        if members.keys() >= {"key", "value"}:
            key, value = members["key"], members["value"]
            if isinstance(value, SdkUnknown | SdkInstance) and value.name.lower() == "value" and isinstance(key, str):
                value.name = key
            found.append({"Key": variables.one(key, "tag"), "Value": variables.one(value, "tag")})
        elif values.is_known:
            lost.append(NotImported(("tags", index), NOT_KNOWN))
    return found, lost


def hyperparameters(
    values: Value, variables: Variables, *, as_json: bool, is_serialized: bool = False
) -> tuple[dict[str, object], list[NotImported]]:
    """Return HyperParameters, and what is not known of them.

    ``is_serialized``: strings are sent as they are, and everything else as JSON.
    """
    known, lost = entries_of(values, "hyperparameters")
    sent: dict[str, object] = {
        name: _sent(name, value, variables, as_json or (is_serialized and _is_certain(value) and not _is_text(value)))
        for name, value in known.items()
    }
    return sent, lost


def _sent(name: str, value: Value, variables: Variables, as_json: bool) -> str:
    plain = variables.json(value, name) if _is_certain(value) else variables.mark(value, name)
    if as_json:
        return json.dumps(plain)
    return (
        str(tuple(plain)) if isinstance(value, SdkItems) and value.is_fixed and isinstance(plain, list) else str(plain)
    )


def _is_text(value: Value) -> bool:
    return isinstance(value, str | SdkText | SdkUnknown)


def _is_certain(value: Value, depth: int = 0) -> bool:
    """Return whether all parts are constants or strings; a part that may be a number has no text of its own."""
    if isinstance(value, SdkItems | Entries):
        inner = value.values if isinstance(value, SdkItems) else value.values.values()
        return value.is_known and depth < 20 and all(_is_certain(item, depth + 1) for item in inner)
    return is_constant(value) or isinstance(value, SdkText) or (isinstance(value, SdkUnknown) and value.is_text)
