"""Subnets and security groups are sets."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM470", "duplicate subnet or security group", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a subnet or a security group that is listed twice."""
    for name, kind in (("Subnets", "subnet"), ("SecurityGroupIds", "security group")):
        earlier: set[str] = set()
        for index, text in enumerate(items(request.payload, "VpcConfig", name)):
            if isinstance(text, str):
                if text in earlier:
                    yield RULE.at(
                        ("VpcConfig", name, index), f"duplicate {kind} `{shown(text)}`", help="remove it, or fix the ID"
                    )
                earlier.add(text)
