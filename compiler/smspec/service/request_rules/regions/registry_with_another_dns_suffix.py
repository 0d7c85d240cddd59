"""The host name of a registry in Amazon ECR ends with the DNS suffix of its region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import IMAGE, Request

RULE = Rule("SM801", "registry with the DNS suffix of a different region", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject a registry such as `….dkr.ecr.cn-north-1.amazonaws.com`, whose suffix is `amazonaws.com.cn`."""
    image = request.image
    found = image.wrong_suffix if image is not None else None
    if image is None or image.registry is None or found is None:
        return
    yield RULE.at(
        IMAGE,
        f"{HERE} has the DNS suffix `{shown(found.suffix)}`, but that of `{shown(found.region)}` is `{found.expected}`",
        help=f"use `{shown(image.registry.removesuffix(found.suffix))}{found.expected}`",
    )
