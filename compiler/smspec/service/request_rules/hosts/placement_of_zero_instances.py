"""The API model allows a placement of 0 instances; its description does not."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items, number
from smspec.service.request import Request

RULE = Rule("SM462", "placement of zero instances", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject a placement specification of 0 instances."""
    here = ("ResourceConfig", "InstancePlacementConfig", "PlacementSpecifications")
    for index, placement in enumerate(items(request.payload, *here)):
        if number(placement, "InstanceCount") == 0:
            yield RULE.at((*here, index, "InstanceCount"), f"{HERE} is 0; the minimum is 1", help="use 1 or more")
