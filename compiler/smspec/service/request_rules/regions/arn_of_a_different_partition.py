"""Resources cannot be used across AWS partitions: aws, aws-cn, aws-us-gov."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM478", "ARN of a different partition", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject ARNs of a different partition than that of the role."""
    role = request.role
    if role is None:
        return
    for named in request.arns:
        if named.arn.partition != role.partition:
            yield RULE.at(
                named.path,
                f"{HERE} is in the partition `{shown(named.arn.partition)}`, "
                f"but the role is in `{shown(role.partition)}`",
                help="use an ARN in the partition of the role",
            )
