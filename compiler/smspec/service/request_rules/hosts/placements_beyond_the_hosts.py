"""Placements cover instances of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items, number
from smspec.service.request import Request

RULE = Rule("SM351", "placements of more hosts than the job has", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about placements that add up to more than InstanceCount."""
    here = ("ResourceConfig", "InstancePlacementConfig", "PlacementSpecifications")
    placed = sum(number(placement, "InstanceCount") or 0 for placement in items(request.payload, *here))
    count = request.host_count
    if count is not None and placed > count:
        yield RULE.at(
            here,
            f"`PlacementSpecifications` place {placed:,} instances, but the job has {count:,}",
            help=f"reduce the placements to {count:,}",
            on="key",
        )
