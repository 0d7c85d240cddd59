"""The source can be copied only into an image that smspec builds."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import ExistingImage, JobSpec

RULE = Rule("SM305", "image delivery with an existing image")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `delivery: image` where no image is built."""
    if isinstance(job.image, ExistingImage) and job.delivery == "image":
        yield RULE.at(
            ("source", "delivery"),
            "`source.delivery` is `image`, but `image` names an existing image",
            help="use `channel` or `s3`, or set `image.base` to build an image from it",
        )
