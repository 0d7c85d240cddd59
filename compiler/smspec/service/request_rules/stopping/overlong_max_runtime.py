"""No training job runs longer than 28 days."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM466", "maximum runtime of more than 28 days", evidence="api-doc")
LONGEST = 28 * 86_400


def check(request: Request) -> Iterator[Finding]:
    """Refuse a MaxRuntimeInSeconds above what SageMaker allows at all."""
    run = request.max_runtime
    if run is not None and run > LONGEST:
        yield RULE.at(
            ("StoppingCondition", "MaxRuntimeInSeconds"),
            f"the longest run time is {request.time(run)}; SageMaker allows 28 days",
            help="let the job write checkpoints, and go on from them in another job",
        )
