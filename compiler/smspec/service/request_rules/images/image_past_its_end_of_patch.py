"""AWS fixes security problems in an image until its end of patch."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.facts import images
from smspec.service.request import IMAGE, Request

RULE = Rule("SM387", "image past its end of patch", "warning", evidence="policy")


def check(request: Request) -> Iterator[Finding]:
    """Warn about an image that got no more patches on the date of the table."""
    image = request.provided_image
    ends = {listed.end_of_patch for listed in image.listed if listed.end_of_patch} if image else set()
    if image and ends and max(ends) < images.date():
        yield RULE.at(
            IMAGE,
            f"{HERE} is past its end of patch, {max(ends)} ({images.as_of()})",
            help=f"use a newer version of `{image.repository}`",
        )
