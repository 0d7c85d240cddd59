"""SageMaker pulls images from the ECR of the region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM371", "image in a different region", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject an ECR image of a different region than that of the job, where that is known."""
    image = request.image
    there = image.region if image else None
    if request.region and there and there != request.region:
        provided = request.provided_image
        right = provided.uri_in(request.region) if provided else ""
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{request.word('TrainingImage', 'image')}` is in `{shown(there)}`, but the job runs in "
            f"`{shown(request.region)}`",
            help=f"use `{right}`" if right else "move the image to the region of the job, and use its URI there",
        )
