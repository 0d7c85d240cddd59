"""A local disk is encrypted with a key of its own hardware."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM458", "volume key on instances with local storage", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Refuse VolumeKmsKeyId where every instance type has local storage. An empty key is none."""
    if request.storages == {"nvme"} and structure(request.payload, "ResourceConfig").get("VolumeKmsKeyId"):
        kind = next(kind for _, kind in request.instance_types)
        yield RULE.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"`{shown(kind)}` has disks of its own, for which no key can be named",
            help="leave the key out: the disks are encrypted by their hardware",
            on="key",
        )
