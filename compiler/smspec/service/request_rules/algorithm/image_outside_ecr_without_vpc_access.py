"""SageMaker reaches a registry other than Amazon ECR only through a VPC."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM437", "image outside ECR without VPC access", evidence="api-doc")

_MODE = "TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}"
_KEY = f"api: {{AlgorithmSpecification: {{{_MODE}}}}}"


def check(request: Request) -> Iterator[Finding]:
    """Reject an image of a different registry unless TrainingRepositoryAccessMode is Vpc."""
    image = request.image
    if image is None or image.registry is None or request.access_mode != "Platform":
        return
    # A misspelled ECR registry is reported as such.
    if image.is_in_ecr or image.is_meant_for_ecr:
        return
    here: Path = ("AlgorithmSpecification", "TrainingImageConfig")
    is_set = "TrainingRepositoryAccessMode" in structure(request.algorithm, "TrainingImageConfig")
    yield RULE.at(
        (*here, "TrainingRepositoryAccessMode") if is_set else here,
        f"`{request.word('TrainingImage', 'image')}` is in `{shown(image.registry)}`, which requires VPC access",
        help=f"copy the image to Amazon ECR, or set `{request.word(_MODE, _KEY)}`",
        cause=("AlgorithmSpecification", "TrainingImage"),
    )
