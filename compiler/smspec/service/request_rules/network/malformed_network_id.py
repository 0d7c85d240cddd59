"""The API accepts any string as a subnet; EC2 does not."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM357", "malformed subnet or security group ID", "warning", evidence="api-doc")


_KINDS = (
    ("Subnets", "network.subnets", "subnet", "subnet-"),
    ("SecurityGroupIds", "network.security_groups", "security group", "sg-"),
)


def check(request: Request) -> Iterator[Finding]:
    """Warn about ids without the prefix that EC2 uses."""
    for name, key, kind, prefix in _KINDS:
        for index, text in enumerate(items(request.payload, "VpcConfig", name)):
            if isinstance(text, str) and not text.startswith(prefix):
                yield RULE.at(
                    ("VpcConfig", name, index),
                    f"`{request.word(name, key)}`: `{shown(text)}` does not look like the ID of a {kind}",
                    help=f"use an ID that starts with `{prefix}`",
                )
