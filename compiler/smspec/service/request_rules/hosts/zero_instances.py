"""DescribeTrainingJob returns 0 instances next to instance groups, so the model allows it; a request cannot set it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request

RULE = Rule("SM428", "zero instances", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a job, or an instance group, of 0 instances."""
    here = ("ResourceConfig",)
    if _is_zero(structure(request.payload, *here).get("InstanceCount")):
        yield RULE.at((*here, "InstanceCount"), f"{HERE} is 0; the minimum is 1", help="use 1 or more")
    for index, group in enumerate(items(request.payload, *here, "InstanceGroups")):
        if _is_zero(structure(group).get("InstanceCount")):
            yield RULE.at(
                (*here, "InstanceGroups", index, "InstanceCount"),
                f"{HERE} is 0; the minimum is 1",
                help="use 1 or more",
            )


def _is_zero(count: object) -> bool:
    return count == 0 and not isinstance(count, bool)
