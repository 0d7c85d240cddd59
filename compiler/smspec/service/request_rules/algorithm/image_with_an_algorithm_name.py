"""An algorithm resource has its own image."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM423", "image together with an algorithm name", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject TrainingImage together with AlgorithmName."""
    if {"TrainingImage", "AlgorithmName"} <= structure(request.payload, "AlgorithmSpecification").keys():
        yield RULE.at(
            ("AlgorithmSpecification", "AlgorithmName"),
            f"{HERE} cannot be combined with `{request.word('TrainingImage', 'image')}`",
            help="remove one of them: an algorithm resource has its own image",
            on="key",
        )
