"""There are several kinds of evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.shapes import pinned_model

RULE = Rule("SM480", "evaluation without a type", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject JobType Evaluation without EvaluationType."""
    job = structure(request.payload, "ServerlessJobConfig")
    words = one_of(pinned_model().shapes["EvaluationType"].enum)
    if job.get("JobType") == "Evaluation" and "EvaluationType" not in job:
        yield RULE.at(
            ("ServerlessJobConfig", "EvaluationType"),
            f"{HERE} is not set",
            help=f"set it to {words}",
            on="key",
        )
