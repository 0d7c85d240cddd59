"""The built-in algorithms of SageMaker define their own metrics."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import Request

RULE = Rule("SM337", "metrics of a built-in algorithm", "warning", evidence="unverified")


def check(request: Request) -> Iterator[Finding]:
    """Warn about metric definitions for the image of a built-in algorithm."""
    image = request.image
    if image and is_built_in_algorithm(image) and items(request.algorithm, "MetricDefinitions"):
        yield RULE.at(
            ("AlgorithmSpecification", "MetricDefinitions"),
            f"`{request.word('MetricDefinitions', 'metrics')}` might have no effect: SageMaker defines the "
            f"metrics of `{image.repository}`",
            help=f"remove `{request.word('MetricDefinitions', 'metrics')}`",
            on="key",
        )
