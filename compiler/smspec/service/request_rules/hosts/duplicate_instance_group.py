"""A channel refers to a group by name, so names must be unique."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM456", "duplicate instance group", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject two instance groups with one name."""
    for index, name in repeated(items(request.payload, "ResourceConfig", "InstanceGroups"), "InstanceGroupName"):
        yield RULE.at(
            ("ResourceConfig", "InstanceGroups", index, "InstanceGroupName"),
            f"duplicate instance group `{shown(name)}`",
            help="rename one of the groups",
        )
