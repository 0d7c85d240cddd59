"""Outside of a VPC a container can reach the whole Internet, bypassing the rules of the organization's network."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM745", "job outside a VPC", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job without subnets and security groups."""
    if policy.require_vpc and "VpcConfig" not in request.payload:
        file = policy.file_of("require_vpc")
        yield RULE.at(
            ("VpcConfig",),
            f"`{file}` requires a VPC, but `{request.word('VpcConfig', 'network')}` is not set",
            help="add subnets and security groups",
            on="key",
        )


def spec_path(_: Request) -> Path:
    """Return the key that sets the VPC, because the request has no member for it."""
    return ("network",)
