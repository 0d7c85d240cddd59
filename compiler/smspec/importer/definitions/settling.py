"""Turn a request with marks into an import: what a variable cannot stand for is listed, and the rest is declared.

A variable without a default gets a value of the right kind, so that smspec can compile and check the spec.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from smspec.importer.definitions.variables import DefinitionVariables, Origin
from smspec.importer.imported import Imported, NotImported, Variable
from smspec.importer.marks import MARK, holds_mark
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path
from smspec.source.frozen import replace

_BY_STEM = {
    "region": "us-west-2",
    "account": "111122223333",
    "account_id": "111122223333",
    "bucket": "example-bucket",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "partition": "aws",
}
_KEY = "arn:aws:kms:us-west-2:111122223333:key/example"
_BY_MEMBER: dict[str, object] = {
    "RoleArn": _BY_STEM["role"],
    "TrainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/example:1",
    "InstanceType": "ml.m5.xlarge",
    "InstanceCount": 1,
    "VolumeSizeInGB": 30,
    "MaxRuntimeInSeconds": 3600,
    "MaxWaitTimeInSeconds": 7200,
    "MaxPendingTimeInSeconds": 7200,
    "KeepAlivePeriodInSeconds": 600,
    "Subnets": "subnet-0aa0aa0aa0aa0aa00",
    "SecurityGroupIds": "sg-0bb0bb0bb0bb0bb00",
    "S3Uri": "s3://example-data/example/",
    "S3OutputPath": "s3://example-bucket/example/",
    "KmsKeyId": _KEY,
    "VolumeKmsKeyId": _KEY,
    "FileSystemId": "fs-0123456789abcdef0",
    "TrainingInputMode": "File",
    "InputMode": "File",
    "AlgorithmName": "example",
}
_ECR = ".dkr.ecr."
_REGISTRY = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
GENERIC = "example"

_NAME = "TrainingJobName"
_KEYS_OF_A_SPEC = {"InputDataConfig": "ChannelName", "Tags": "Key"}
"""Lists of the request that are mappings in a spec: this member of their items becomes a key there."""
_WHOLE = "it is known only when the definition is used, and a variable cannot be a list or mapping"
_IN_A_KEY = "a key of a spec cannot contain a variable"


def placeholder(name: str, member: str, shape: Shape | None, before: str, after: str) -> object:
    """Return a value for a variable where it is used.

    ``member``: the nearest member of the request that has a name; ``before`` and ``after``: the rest of the string.
    """
    beside = _beside(before, after)
    if beside:
        return beside
    is_beginning = not before
    if is_beginning and member == "TrainingImage" and after[:1] in ("/", ":", "@"):
        return _REGISTRY if after[0] == "/" else f"{_REGISTRY}/{GENERIC}"
    if is_beginning and member in _BY_MEMBER and (not after or member.startswith("S3")):
        return _BY_MEMBER[member]
    if shape is not None and not before and not after:
        if shape.enum:
            return shape.enum[0]
        if shape.kind == "boolean":
            return True
        if shape.kind in ("integer", "long"):
            return max(1, shape.minimum or 1)
    if is_beginning and (member.endswith("S3Uri") or re.search("(?i)uri$|path$", member)):
        return _BY_MEMBER["S3Uri"]
    return _BY_STEM.get(name.rstrip("0123456789_"), GENERIC)


def _beside(before: str, after: str) -> str:
    """Return what a part of a string must be, by its neighbors."""
    if before.endswith("://"):
        return _BY_STEM["bucket"]
    if after.startswith(_ECR):
        return _BY_STEM["account"]
    if _ECR in before and "/" not in before:
        return _BY_STEM["region"] if before.endswith(_ECR) else "amazonaws.com"
    if before.startswith("arn:"):
        field = before.count(":")
        return {1: _BY_STEM["partition"], 3: _BY_STEM["region"], 4: _BY_STEM["account"]}.get(field, "")
    return ""


def settled(found: Imported, variables: DefinitionVariables) -> Imported:
    """Return the import with its variables. Without marks, the request stays the same."""
    if not variables.origins:
        return found
    settling = _Settling(variables)
    request = dict(found.request)
    name, stem = request.get(_NAME), found.stem
    if isinstance(name, str) and holds_mark(name):
        del request[_NAME]
        # The name is different in each run: what all of them share is the name of the spec.
        stem = MARK.sub("-", variables.with_defaults(name)).strip("-") or stem
        settling.lost.append(NotImported((_NAME,), "it is different in each run"))
    model = pinned_model()
    kept = settling.members(request, (), model.root)
    patch = settling.members(found.patch, (), model.root)
    declared = tuple(settling.declared())
    lost = (*found.not_imported, *settling.lost)
    return replace(found, request=kept, patch=patch, not_imported=lost, variables=declared, stem=stem)


class _Settling:
    def __init__(self, variables: DefinitionVariables) -> None:
        self.variables = variables
        self.lost: list[NotImported] = []
        self._placeholders: dict[str, object] = {}
        self._defaults: dict[str, object] = {}

    def declared(self) -> Iterator[Variable]:
        for name, value in self._placeholders.items():
            origin = self.variables.origins[name]
            default = self._defaults.get(name, origin.default)
            yield Variable(name, value if default is None else default, origin.description, default)

    def members(self, value: dict[str, object], path: Path, shape: Shape | None) -> dict[str, object]:
        kept: dict[str, object] = {}
        for name, inner in value.items():
            here = (*path, name)
            if holds_mark(name):
                self.lost.append(NotImported((*path, self.variables.with_defaults(name)), _IN_A_KEY))
            elif self._is_open(inner, found := _inner(shape, name)):
                self.lost.append(NotImported(here, _WHOLE))
            else:
                kept[name] = self._inside(inner, here, found)
        return kept

    def _is_open(self, value: object, shape: Shape | None) -> bool:
        """Return whether a list or mapping is unknown as a whole."""
        if not isinstance(value, str) or not holds_mark(value):
            return False
        return shape is not None and shape.kind in ("structure", "list", "map")

    def _inside(self, value: object, path: Path, shape: Shape | None) -> object:
        if isinstance(value, dict):
            return self.members(value, path, shape)
        if isinstance(value, list):
            return self._items(value, path, shape)
        if isinstance(value, str) and holds_mark(value):
            return self._text(value, path, shape)
        return value

    def _items(self, value: list[object], path: Path, shape: Shape | None) -> list[object]:
        inner = pinned_model().shapes[shape.item] if shape is not None and shape.kind == "list" else None
        key = _KEYS_OF_A_SPEC.get(str(path[-1])) if len(path) == 1 else None
        kept: list[object] = []
        for index, item in enumerate(value):
            here = (*path, index)
            if self._is_open(item, inner):
                self.lost.append(NotImported(here, _WHOLE))
                continue
            if key is not None and isinstance(item, dict):
                item = self._with_fixed_key(item, key, here)
                if item is None:
                    continue
            kept.append(self._inside(item, here, inner))
        return kept

    def _with_fixed_key(self, item: dict[str, object], key: str, path: Path) -> dict[str, object] | None:
        name = item.get(key)
        if not isinstance(name, str) or not holds_mark(name):
            return item
        fixed = self.variables.with_defaults(name)
        if holds_mark(fixed):
            self.lost.append(NotImported((*path, key), _IN_A_KEY))
            return None
        self.lost.append(NotImported((*path, key), f"{_IN_A_KEY}: the spec has the default `{fixed}`"))
        return {**item, key: fixed}

    def _text(self, text: str, path: Path, shape: Shape | None) -> str:
        member = next((str(step) for step in reversed(path) if isinstance(step, str)), "")
        for match in MARK.finditer(text):
            name = match[1]
            origin = self.variables.origins.get(name)
            if origin is None:
                continue
            before, after = (
                self.variables.with_defaults(part) for part in (text[: match.start()], text[match.end() :])
            )
            found = placeholder(name, member, shape, before, after) if origin.example is None else origin.example
            if self._placeholders.get(name, GENERIC) == GENERIC:
                self._placeholders[name] = found
            if not before and not after:
                self._whole(name, origin, path, shape)
        return text

    def _whole(self, name: str, origin: Origin, path: Path, shape: Shape | None) -> None:
        """Give the default of a variable the type that the member needs: templates have strings for numbers."""
        default = origin.default
        if not isinstance(default, str):
            return
        is_typed = path[0] == "HyperParameters" or (shape is not None and shape.kind not in ("string",))
        typed = _typed(default) if is_typed else None
        if typed is not None:
            self._defaults[name] = typed


def _typed(text: str) -> object:
    """Return a number, true, or false by its only spelling in JSON; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, bool | int | float) and json.dumps(value) == text else None


def _inner(shape: Shape | None, name: str) -> Shape | None:
    """Return the shape of a member, or of a value of a map."""
    if shape is None:
        return None
    if shape.kind == "map":
        return pinned_model().shapes[shape.item]
    return pinned_model().shapes[shape.members[name]] if name in shape.members else None
