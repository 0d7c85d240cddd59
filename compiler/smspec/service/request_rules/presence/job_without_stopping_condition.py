"""A request must have a stopping condition, even an empty one."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM422", "job without a stopping condition", evidence="third-party-schema")


def check(request: Request) -> Iterator[Finding]:
    """Reject a request without StoppingCondition, unless the job is serverless."""
    if "StoppingCondition" not in request.payload and not request.is_serverless:
        yield RULE.at(
            ("StoppingCondition",),
            "`StoppingCondition` is not set",
            help="add `StoppingCondition: {}`; SageMaker then stops the job after a day",
        )
