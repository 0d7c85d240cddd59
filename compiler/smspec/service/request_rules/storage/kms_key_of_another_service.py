"""A KMS key is an id, an alias, or an ARN of KMS."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM809", "KMS key that is another resource", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject the ARN of another service in place of a KMS key."""
    for named in request.arns:
        is_key = named.arn.service == "kms" and named.arn.resource.startswith(("key/", "alias/"))
        if str(named.path[-1]).endswith("KmsKeyId") and not is_key:
            yield RULE.at(
                named.path,
                f"{HERE} is not a KMS key, but `{shown(f'{named.arn.service}:{named.arn.resource}')}`",
                help="use the ARN, the id, or the alias of a KMS key",
            )
