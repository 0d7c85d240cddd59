"""The API takes any word for a subnet; EC2 does not."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM357", "malformed subnet or security group ID", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn of ids without the prefix that EC2 gives them."""
    for name, said, prefix in (("Subnets", "subnet", "subnet-"), ("SecurityGroupIds", "security group", "sg-")):
        for index, text in enumerate(items(request.payload, "VpcConfig", name)):
            if isinstance(text, str) and not text.startswith(prefix):
                yield RULE.at(
                    ("VpcConfig", name, index),
                    f"`{shown(text)}` does not look like the id of a {said}",
                    help=f"such ids start with `{prefix}`",
                )
