"""A cluster has either one instance type or instance groups."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request

RULE = Rule("SM425", "instance groups together with an instance type", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject InstanceGroups together with InstanceType or InstanceCount."""
    if not items(request.payload, "ResourceConfig", "InstanceGroups"):
        return
    groups = request.word("InstanceGroups", "hosts.groups")
    for name in ("InstanceType", "InstanceCount"):
        if name in structure(request.payload, "ResourceConfig"):
            yield RULE.at(
                ("ResourceConfig", name),
                f"{HERE} cannot be combined with `{groups}`",
                help="remove it: every group has its own",
                on="key",
            )
