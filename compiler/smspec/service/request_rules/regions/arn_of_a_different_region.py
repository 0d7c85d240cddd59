"""A job uses resources in its own region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM477", "ARN of a different region", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject ARNs of a different region than that of the job, where that is known."""
    for named in request.arns:
        there = named.arn.region
        if request.region and named.is_of_the_job and there and there != request.region:
            yield RULE.at(
                named.path,
                f"{HERE} is in `{shown(there)}`, but the job runs in `{shown(request.region)}`",
                help="use an ARN in the region of the job",
            )
