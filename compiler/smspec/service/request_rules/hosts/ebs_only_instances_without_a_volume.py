"""Instances without local storage get a volume, and the request must set its size."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.instance_families import storage
from smspec.service.members import items, number
from smspec.service.request import Request

RULE = Rule("SM457", "EBS-only instances without a volume", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject instance types without local storage where no volume size is set."""
    if (
        request.is_serverless
        or number(request.payload, "ResourceConfig", "VolumeSizeInGB")
        or not _needs_a_volume(request)
    ):
        return
    kind = next(kind for _, kind in request.instance_types if storage(kind) == "ebs")
    size = request.word("VolumeSizeInGB", "hosts.volume")
    yield RULE.at(
        ("ResourceConfig", "VolumeSizeInGB"),
        f"`{size}` is not set; `{kind}` has no local storage",
        help=f"set `{size}` to an integer of GB, 1 or more",
        on="key",
    )


def _needs_a_volume(request: Request) -> bool:
    """Return whether some instance certainly has no local storage. SageMaker may choose any of the preferred types."""
    kinds = request.storages
    return kinds == {"ebs"} or ("ebs" in kinds and not items(request.payload, "ResourceConfig", "InstancePreferences"))
