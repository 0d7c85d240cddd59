"""A job must set an instance type."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM426", "missing instance type", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a ResourceConfig without an instance type, unless the job is serverless."""
    hosts = structure(request.payload, "ResourceConfig")
    if not hosts or request.is_serverless:
        return
    if not {"InstanceType", "InstanceGroups", "InstancePreferences"} & hosts.keys():
        kind, groups = (
            request.word("InstanceType", "hosts.instance_type"),
            request.word("InstanceGroups", "hosts.groups"),
        )
        yield RULE.at(
            ("ResourceConfig", "InstanceType"),
            f"`{kind}` is not set",
            help=f"set `{kind}`, or `{groups}`",
            on="key",
        )
