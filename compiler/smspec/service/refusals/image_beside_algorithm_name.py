"""An algorithm resource has its own image."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure

RULE = Rule("SM423", "image beside an algorithm name")


def check(request: dict[str, object]) -> Iterator[Finding]:
    """Refuse TrainingImage together with AlgorithmName."""
    if {"TrainingImage", "AlgorithmName"} <= structure(request, "AlgorithmSpecification").keys():
        yield RULE.at(
            ("AlgorithmSpecification", "AlgorithmName"),
            "an algorithm name excludes an image",
            help="keep one of them: an algorithm resource brings its own image",
            on="key",
        )
