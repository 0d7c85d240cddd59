"""Some instances cost a hundred times as much as others."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.instance_families import family
from smspec.service.policy import Policy
from smspec.service.request import Request

RULE = Rule("SM741", "disallowed instance family", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject instances of families that are not allowed."""
    allowed = policy.allowed_instance_families
    if allowed is None:
        return
    for path, instance_type in request.instance_types:
        name = family(instance_type)
        if name and name not in allowed:
            yield RULE.at(
                path,
                f"`{policy.file_of('allowed_instance_families')}` does not allow the instance family `{name}`",
                help=f"use {one_of(allowed)}" if allowed else "ask the policy owner",
            )
