"""The families of instance types, and where the volume of a type comes from.

The pinned model lists names only. Nothing is reported about a family that no public document describes.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from smspec.service.facts.instances import instance, known_types

Storage = Literal["ebs", "nvme", "unknown"]
"""``ebs``: VolumeSizeInGB sets the size of the volume; ``nvme``: SageMaker uses local storage of a fixed size."""

ULTRASERVER = frozenset({"p6e-gb200", "trn2"})
"""Families that are also available as UltraServers: their jobs can be placed on one."""

TRAINIUM = frozenset({"trn1", "trn1n", "trn2"})


def family(instance_type: str) -> str:
    """Return ``g5`` of ``ml.g5.xlarge``; empty if the string is not an instance type."""
    prefix, _, rest = instance_type.partition(".")
    name, dot, size = rest.partition(".")
    return name if prefix == "ml" and dot and size else ""


def storage(instance_type: str) -> Storage:
    """Return the storage of the instances of a type."""
    facts = instance(instance_type)
    if facts is None or facts.nvme_gb is None:
        return "unknown"
    return "nvme" if facts.nvme_gb else "ebs"


def is_known(instance_type: str) -> bool:
    """Return whether a type has a family of the table of instances."""
    return family(instance_type) in _families()


@cache
def _families() -> frozenset[str]:
    return frozenset(map(family, known_types()))
