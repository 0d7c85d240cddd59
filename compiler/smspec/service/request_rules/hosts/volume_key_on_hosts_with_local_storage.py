"""Local storage is encrypted with a key of its own hardware."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM458", "volume key on instances with local storage", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject VolumeKmsKeyId where every instance type has local storage. An empty key counts as not set."""
    if request.storages == {"nvme"} and structure(request.payload, "ResourceConfig").get("VolumeKmsKeyId"):
        kind = next(kind for _, kind in request.instance_types)
        yield RULE.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"{HERE} is not supported on `{shown(kind)}` (local NVMe storage)",
            help="remove the key: the hardware encrypts local storage",
            on="key",
        )
