"""A job must set the number of instances."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM427", "missing instance count", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a ResourceConfig without a number of instances, unless the job is serverless."""
    hosts = structure(request.payload, "ResourceConfig")
    if not hosts or request.is_serverless:
        return
    if not {"InstanceCount", "InstanceGroups", "InstancePreferences"} & hosts.keys():
        count, groups = request.word("InstanceCount", "hosts.count"), request.word("InstanceGroups", "hosts.groups")
        yield RULE.at(
            ("ResourceConfig", "InstanceCount"),
            f"`{count}` is not set",
            help=f"set `{count}`, or `{groups}`",
            on="key",
        )
