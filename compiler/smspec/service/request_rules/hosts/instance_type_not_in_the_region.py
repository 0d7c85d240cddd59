"""SageMaker has no instances of a type that EC2 does not offer in the region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.facts.instances import lacks
from smspec.service.facts.table import table
from smspec.service.member_names import member
from smspec.service.request import Request

RULE = Rule("SM392", "instance type not in the region", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about types that EC2 lacked in the region on the date of the table; other regions are unknown."""
    region = request.region
    if region is None:
        return
    for path, kind in request.instance_types:
        if lacks(region, kind):
            yield RULE.at(
                path,
                f"{member(path)}: EC2 has no `{kind.removeprefix('ml.')}` in `{region}`, "
                f"{table('ec2_not_offered').as_of}",
                help="use a different type or region, or check the offer of the region in the EC2 console",
            )
