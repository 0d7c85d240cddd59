"""Only an image that is built can take the source in."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ReadyImage

RULE = Rule("SM305", "image delivery with an existing image")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse `delivery: image` where nothing is built."""
    if isinstance(job.image, ReadyImage) and job.delivery == "image":
        yield RULE.at(
            ("source", "delivery"),
            "nothing is built, so the source cannot be put into the image",
            help="use `channel` (the default of a ready image) or `s3`, or build an image with that one as its `base`",
        )
