"""A run belongs to an experiment."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM369", "run without an experiment", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about RunName without ExperimentName."""
    experiment = structure(request.payload, "ExperimentConfig")
    if "RunName" in experiment and "ExperimentName" not in experiment:
        yield RULE.at(
            ("ExperimentConfig", "ExperimentName"),
            "`RunName` has no effect without `ExperimentName`",
            help="add `ExperimentName`",
            on="key",
        )
