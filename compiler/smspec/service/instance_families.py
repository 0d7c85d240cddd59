"""The families of instance types: where their volume comes from, and what they are built for.

The storage of a family is public; the API model lists only names. A test checks that every name of the pinned model is
in one of these sets, so a new family is classified when the model is pinned.
"""

from __future__ import annotations

from typing import Literal

Storage = Literal["ebs", "nvme", "unknown"]

# fmt: off
EBS_ONLY = frozenset({
    "m4", "m5", "m6i", "m7i", "m7i-flex", "m8i", "m8i-flex", "c4", "c5", "c5n", "c6i", "c7i", "c7i-flex", "c8i",
    "c8i-flex", "r5", "r6i", "r7i", "r8i", "r8i-flex", "p2", "p3", "t3",
})
# fmt: on
"""Without local storage: VolumeSizeInGB sets the size of the volume."""

# fmt: off
LOCAL_NVME = frozenset({
    "g4dn", "g5", "g6", "g6e", "g7e", "p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300",
    "p6e-gb200", "trn1", "trn1n", "trn2", "r5d",
})
# fmt: on
"""With local storage of a fixed size, which SageMaker uses instead of a volume."""

STORAGE_UNKNOWN = frozenset({"g7"})
"""Families in the API model that no public document describes yet; no rule checks their volume."""

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
    name = family(instance_type)
    if name in EBS_ONLY:
        return "ebs"
    return "nvme" if name in LOCAL_NVME else "unknown"


def is_known(instance_type: str) -> bool:
    """Return whether the family of a type is in these sets."""
    return family(instance_type) in EBS_ONLY | LOCAL_NVME | STORAGE_UNKNOWN
