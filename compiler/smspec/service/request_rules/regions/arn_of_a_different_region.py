"""A job uses resources in its own region."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.partitions import partition_of
from smspec.service.request import Request
from smspec.service.s3_address import is_access_point, region_of

RULE = Rule("SM477", "ARN of a different region", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject ARNs and S3 addresses of a different region than that of the job, where that is known."""
    if not request.region:
        return
    here = partition_of(request.region)
    named = ((each.path, each.arn.region, "an ARN") for each in request.arns if each.is_of_the_job)
    stored = (
        (path, region_of(address), "a bucket")
        for path, address in request.s3_addresses
        # SM478 reports access points of a different partition.
        if not is_access_point(address) or partition_of(region_of(address) or request.region) == here
    )
    for path, there, what in chain(named, stored):
        if there and there != request.region:
            yield RULE.at(
                path,
                f"{HERE} is in `{shown(there)}`, but the job runs in `{shown(request.region)}`",
                help=f"use {what} in the region of the job",
            )
