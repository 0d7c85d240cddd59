"""The member names that the ACK controller for SageMaker uses in Kubernetes objects.

``KmsKeyId`` is ``kmsKeyID`` there: the first word in lower case, initialisms in upper case. `to_ack` and `from_ack`
follow the shapes of the API model, so the keys of maps, which the author chooses, are not changed.
"""

from __future__ import annotations

import re

from smspec.service.shapes import Model, Shape, pinned_model
from smspec.source import Path

_WORD = re.compile(r"[A-Z]+[a-z0-9]*|[a-z0-9]+")
_INITIALISMS = {"Arn": "ARN", "Arns": "ARNs", "Id": "ID", "Ids": "IDs", "Kms": "KMS", "Uri": "URI", "Vpc": "VPC"}


def ack_name(member: str) -> str:
    """Return the name of an API member in an ACK object."""
    first, *rest = _WORD.findall(member)
    return "".join((first.lower(), *(_INITIALISMS.get(word, word) for word in rest)))


REGION = "services.k8s.aws/region"
"""The annotation of an object with its region; without it the controller uses its own."""


def to_ack(request: dict[str, object]) -> dict[str, object]:
    """Return a CreateTrainingJob request as the spec of a TrainingJob; unknown members keep their names."""
    model = pinned_model()
    return _named(model, model.root, request)


def from_ack(spec: dict[str, object]) -> tuple[dict[str, object], list[Path]]:
    """Return the request for the spec of a TrainingJob, and the paths in the spec that have no member."""
    model = pinned_model()
    unknown: list[Path] = []
    return _members(model, model.root, spec, (), unknown), unknown


def _named(model: Model, shape: Shape, value: dict[str, object]) -> dict[str, object]:
    return {
        ack_name(name) if name in shape.members else name: _renamed(model, model.shapes[shape.members[name]], inner)
        if name in shape.members
        else inner
        for name, inner in value.items()
    }


def _renamed(model: Model, shape: Shape, value: object) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return _named(model, shape, value)
    if shape.kind == "list" and isinstance(value, list):
        return [_renamed(model, model.shapes[shape.item], item) for item in value]
    return value


def _members(
    model: Model, shape: Shape, value: dict[str, object], path: Path, unknown: list[Path]
) -> dict[str, object]:
    by_name = {ack_name(name): name for name in shape.members}
    members: dict[str, object] = {}
    for name, inner in value.items():
        member = by_name.get(name)
        if member is None:
            unknown.append((*path, name))
        else:
            members[member] = _member(model, model.shapes[shape.members[member]], inner, (*path, name), unknown)
    return members


def _member(model: Model, shape: Shape, value: object, path: Path, unknown: list[Path]) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return _members(model, shape, value, path, unknown)
    if shape.kind == "list" and isinstance(value, list):
        item = model.shapes[shape.item]
        return [_member(model, item, inner, (*path, index), unknown) for index, inner in enumerate(value)]
    return value
