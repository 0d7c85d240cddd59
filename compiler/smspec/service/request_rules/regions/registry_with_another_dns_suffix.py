"""The host name of a registry in Amazon ECR ends with the DNS suffix of its region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.partitions import partition_of
from smspec.service.request import IMAGE, Request

RULE = Rule("SM801", "registry with the DNS suffix of a different region", evidence="service-message")

_DUAL_STACK = ".dkr-ecr."
"""Dual-stack host names have suffixes of their own, which the table of partitions lacks."""


def check(request: Request) -> Iterator[Finding]:
    """Reject a registry such as `….dkr.ecr.cn-north-1.amazonaws.com`, whose suffix is `amazonaws.com.cn`."""
    image = request.image
    if image is None or image.registry is None or image.region is None or _DUAL_STACK in image.registry:
        return
    partition = partition_of(image.region)
    beginning, _, suffix = image.registry.partition(f".{image.region}.")
    if partition is None or suffix == partition.dns_suffix:
        return
    yield RULE.at(
        IMAGE,
        f"{HERE} has the DNS suffix `{shown(suffix)}`, but that of `{shown(image.region)}` is `{partition.dns_suffix}`",
        help=f"use `{shown(beginning)}.{shown(image.region)}.{partition.dns_suffix}`",
    )
