"""The platform pulls from ECR; Vpc is for private Docker registries."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM333", "Vpc access to an image in ECR", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about TrainingRepositoryAccessMode Vpc with an image in Amazon ECR."""
    image = request.image
    if image is not None and image.is_in_ecr and request.access_mode == "Vpc":
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
            "`TrainingRepositoryAccessMode` is `Vpc`, but the image is in Amazon ECR",
            help="remove `TrainingImageConfig`; the default, `Platform`, is for ECR",
        )
