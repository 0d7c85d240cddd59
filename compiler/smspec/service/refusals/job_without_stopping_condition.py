"""A request must have a stopping condition, be it an empty one."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule

RULE = Rule("SM422", "job without a stopping condition")


def check(request: dict[str, object]) -> Iterator[Finding]:
    """Refuse a request without StoppingCondition, unless the job is serverless."""
    if "StoppingCondition" not in request and "ServerlessJobConfig" not in request:
        yield RULE.at(
            ("StoppingCondition",),
            "the request has no `StoppingCondition`",
            help="an empty one will do: SageMaker then stops the job after a day",
        )
