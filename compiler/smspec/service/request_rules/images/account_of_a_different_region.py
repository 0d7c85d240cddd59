"""AWS publishes its images from a different account in most regions."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.facts import accounts
from smspec.service.request import IMAGE, Request

RULE = Rule("SM488", "image account of a different region", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject the registry of an account that publishes no images in the region of its host name."""
    image = request.provided_image
    # An unlisted repository may have other accounts, and a new region other ones.
    if image is None or image.is_of_region or not image.of_repository or image.region not in accounts.all_regions():
        return
    right = image.uri_in(request.region or image.region)
    there = ", ".join(f"`{region}`" for region in _regions(image.account)[:3])
    yield RULE.at(
        IMAGE,
        f"{HERE} is in account `{image.account}`, which has no images of AWS in `{image.region}`",
        help=f"use `{right}`" if right else f"use a region of this account, such as {there}",
    )


def _regions(account: str) -> list[str]:
    return [region for region in accounts.all_regions() if accounts.columns(account, region)]
