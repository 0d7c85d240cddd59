"""Locations that must agree: regions and partitions of ARNs and images."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.partitions import partition_of
from smspec.service.request import IMAGE, Request
from smspec.service.s3_address import is_access_point, region_of
from smspec.source import Path

ARN_OF_A_DIFFERENT_PARTITION = Rule("SM478", "ARN of a different partition", evidence="inferred")


def arn_of_a_different_partition(request: Request) -> Iterator[Finding]:
    """Reject ARNs of a different partition than that of the role, and a role of a different one than the job's.

    Resources cannot be used across AWS partitions, such as aws, aws-cn, and aws-us-gov.
    """
    role = request.role
    if role is None:
        return
    image = request.image
    # SageMaker pulls an image from the registry of the region in which the job runs.
    region = request.region or (image.region if image else None)
    partition = partition_of(region) if region else None
    if partition is not None and role.partition != partition.name:
        yield ARN_OF_A_DIFFERENT_PARTITION.at(
            ("RoleArn",),
            f"{HERE} is in the partition `{shown(role.partition)}`, but `{shown(region)}` is in `{partition.name}`",
            help=f"use a role in the partition `{partition.name}`, or another region",
        )
        return
    for path, other in _partitions(request):
        if other != role.partition:
            yield ARN_OF_A_DIFFERENT_PARTITION.at(
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


ARN_OF_A_DIFFERENT_REGION = Rule("SM477", "ARN of a different region", evidence="inferred")


def arn_of_a_different_region(request: Request) -> Iterator[Finding]:
    """Reject ARNs and S3 addresses of a different region than that of the job, where that is known.

    A job uses resources in its own region.
    """
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
            yield ARN_OF_A_DIFFERENT_REGION.at(
                path,
                f"{HERE} is in `{shown(there)}`, but the job runs in `{shown(request.region)}`",
                help=f"use {what} in the region of the job",
            )


REGISTRY_WITH_ANOTHER_DNS_SUFFIX = Rule(
    "SM801", "registry with the DNS suffix of a different region", evidence="service-message"
)


def registry_with_another_dns_suffix(request: Request) -> Iterator[Finding]:
    """Reject a registry such as `….dkr.ecr.cn-north-1.amazonaws.com`, whose suffix is `amazonaws.com.cn`.

    The host name of a registry in Amazon ECR ends with the DNS suffix of its region.
    """
    image = request.image
    found = image.wrong_suffix if image is not None else None
    if image is None or image.registry is None or found is None:
        return
    yield REGISTRY_WITH_ANOTHER_DNS_SUFFIX.at(
        IMAGE,
        f"{HERE} has the DNS suffix `{shown(found.suffix)}`, but that of `{shown(found.region)}` is `{found.expected}`",
        help=f"use `{shown(image.registry.removesuffix(found.suffix))}{found.expected}`",
    )


IMAGE_IN_A_DIFFERENT_REGION = Rule("SM371", "image in a different region", evidence="service-message")


def image_in_a_different_region(request: Request) -> Iterator[Finding]:
    """Reject an ECR image of a different region than that of the job, where that is known.

    SageMaker pulls images from the ECR of the region.
    """
    image = request.image
    there = image.region if image else None
    if request.region and there and there != request.region:
        provided = request.provided_image
        right = provided.uri_in(request.region) if provided else ""
        yield IMAGE_IN_A_DIFFERENT_REGION.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{request.word('TrainingImage', 'image')}` is in `{shown(there)}`, but the job runs in "
            f"`{shown(request.region)}`",
            help=f"use `{right}`" if right else "move the image to the region of the job, and use its URI there",
        )


RULES = {
    arn_of_a_different_partition: (),
    arn_of_a_different_region: (),
    registry_with_another_dns_suffix: ("AlgorithmSpecification.TrainingImage",),
    image_in_a_different_region: ("AlgorithmSpecification.TrainingImage",),
}
