"""There are several kinds of evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.shapes import pinned_model

RULE = Rule("SM480", "evaluation without a type", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Refuse JobType Evaluation without EvaluationType."""
    job = structure(request.payload, "ServerlessJobConfig")
    words = ", ".join(f"`{word}`" for word in pinned_model().shapes["EvaluationType"].enum)
    if job.get("JobType") == "Evaluation" and "EvaluationType" not in job:
        yield RULE.at(
            ("ServerlessJobConfig", "EvaluationType"),
            "nothing says what kind of evaluation the job is",
            help=f"give `EvaluationType`: {words}",
            on="key",
        )
