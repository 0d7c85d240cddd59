"""Instances with local storage get no volume."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.facts.instances import instance
from smspec.service.member_names import shown
from smspec.service.members import number
from smspec.service.request import Request

RULE = Rule("SM347", "volume on hosts with local storage", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about VolumeSizeInGB where every instance type has local storage."""
    if request.storages == {"nvme"} and number(request.payload, "ResourceConfig", "VolumeSizeInGB"):
        kind = next(kind for _, kind in request.instance_types)
        facts = instance(kind)
        size = f"{facts.nvme_gb:,} GB" if facts and facts.nvme_gb else "storage of a fixed size"
        yield RULE.at(
            ("ResourceConfig", "VolumeSizeInGB"),
            f"`{request.word('VolumeSizeInGB', 'hosts.volume')}` has no effect: `{shown(kind)}` uses local "
            "NVMe storage",
            help=f"remove it; `{shown(kind)}` has {size} for `/opt/ml` and `/tmp`",
            on="key",
        )
