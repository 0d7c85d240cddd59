"""A job must name what it runs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM424", "neither image nor algorithm name", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject an AlgorithmSpecification without an algorithm."""
    algorithm = structure(request.payload, "AlgorithmSpecification")
    if algorithm and not {"TrainingImage", "AlgorithmName"} & algorithm.keys():
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{request.word('AlgorithmSpecification.TrainingImage', 'image')}` is not set",
            help=f"set `{request.word('TrainingImage', 'image')}`, or"
            f" `{request.word('AlgorithmName', 'api: {AlgorithmSpecification: {AlgorithmName: …}}')}`",
        )
