"""An image for Arm processors does not start on x86-64 instances."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.facts.instances import architecture
from smspec.service.request import IMAGE, Request

RULE = Rule("SM490", "image for a different architecture", evidence="inferred")

_ARM = r"(?:.*-)?(?:arm64|aarch64|graviton)(?:-.*)?"


def check(request: Request) -> Iterator[Finding]:
    """Reject an image of AWS for Arm processors on instances that have others."""
    image = request.provided_image
    if image is None or not any(re.fullmatch(_ARM, name) for name in (image.repository, image.tag or "")):
        return
    for kind in dict.fromkeys(kind for _, kind in request.instance_types):
        if architecture(kind) == "x86_64":
            yield RULE.at(
                IMAGE,
                f"{HERE} is for Arm processors, but `{kind}` has x86-64 processors",
                help="use the image without `arm64`",
            )
            return
