"""`hosts`: ResourceConfig."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder, is_amount

_HERE = "ResourceConfig"
_GROUP = {"name": "InstanceGroupName", "instance_type": "InstanceType", "count": "InstanceCount"}


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the hosts. Where the request says only what has no key, the key stands there empty: a job needs it."""
    is_there = rest.has(_HERE)
    hosts = {key: value for key, value in _members(rest) if value is not None}
    if is_there:
        yield "hosts", hosts


def _members(rest: Remainder) -> Iterator[tuple[str, object]]:
    yield "instance_type", rest.text(_HERE, "InstanceType")
    yield "count", rest.amount(_HERE, "InstanceCount")
    volume = rest.amount(_HERE, "VolumeSizeInGB")
    yield "volume", None if volume is None else f"{volume}GB"
    yield "volume_kms_key", rest.text(_HERE, "VolumeKmsKeyId")
    yield "keep_alive", rest.duration(_HERE, "KeepAlivePeriodInSeconds")
    yield "training_plan", rest.text(_HERE, "TrainingPlanArn")
    groups = rest.structures(_is_group, _HERE, "InstanceGroups")
    if groups:
        yield "groups", [{key: group[member] for key, member in _GROUP.items()} for group in groups]


def _is_group(value: dict[str, object]) -> bool:
    return (
        value.keys() == set(_GROUP.values())
        and isinstance(value["InstanceGroupName"], str)
        and isinstance(value["InstanceType"], str)
        and is_amount(value["InstanceCount"])
    )
