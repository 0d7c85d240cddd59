"""Resources cannot be used across AWS partitions, such as aws, aws-cn, and aws-us-gov."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.partitions import partition_of
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM478", "ARN of a different partition", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject ARNs of a different partition than that of the role, and a role of a different one than the job's."""
    role = request.role
    if role is None:
        return
    image = request.image
    # SageMaker pulls an image from the registry of the region in which the job runs.
    region = request.region or (image.region if image else None)
    partition = partition_of(region) if region else None
    if partition is not None and role.partition != partition.name:
        yield RULE.at(
            ("RoleArn",),
            f"{HERE} is in the partition `{shown(role.partition)}`, but `{shown(region)}` is in `{partition.name}`",
            help=f"use a role in the partition `{partition.name}`, or another region",
        )
        return
    for path, other in _partitions(request):
        if other != role.partition:
            yield RULE.at(
                path,
                f"{HERE} is in the partition `{shown(other)}`, but the role is in `{shown(role.partition)}`",
                help="use an ARN in the partition of the role",
            )


def _partitions(request: Request) -> Iterator[tuple[Path, str]]:
    """Yield the partition of each ARN, also of access points in S3 addresses."""
    for named in request.arns:
        yield named.path, named.arn.partition
    for path, address in request.s3_addresses:
        point = parsed_arn(address.removeprefix("s3://"))
        if point is not None:
            yield path, point.partition
