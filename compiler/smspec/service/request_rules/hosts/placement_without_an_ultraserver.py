"""Only UltraServers support placement."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.instance_families import ULTRASERVER, family, is_known
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM461", "placement without an UltraServer", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject InstancePlacementConfig where no instance type belongs to an UltraServer. Unknown types may."""
    kinds = [kind for _, kind in request.instance_types]
    if not kinds or not structure(request.payload, "ResourceConfig").get("InstancePlacementConfig"):
        return
    if all(is_known(kind) and family(kind) not in ULTRASERVER for kind in kinds):
        yield RULE.at(
            ("ResourceConfig", "InstancePlacementConfig"),
            f"{HERE} requires an UltraServer, not `{kinds[0]}`",
            help="remove it, or use an instance type of ml.p6e-gb200 or ml.trn2",
            on="key",
        )
