"""Hosts with disks of their own get no volume."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import number
from smspec.service.request import Request

RULE = Rule("SM347", "volume on hosts with local storage", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn of VolumeSizeInGB where every instance type has local storage."""
    if request.storages == {"nvme"} and number(request.payload, "ResourceConfig", "VolumeSizeInGB"):
        kind = next(kind for _, kind in request.instance_types)
        yield RULE.at(
            ("ResourceConfig", "VolumeSizeInGB"),
            f"`{shown(kind)}` keeps data on disks of its own; the size of a volume has no effect",
            help="leave it out; the size of the disks comes with the instance type",
            on="key",
        )
