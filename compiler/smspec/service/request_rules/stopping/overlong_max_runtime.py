"""No training job runs longer than 28 days."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM466", "maximum runtime of more than 28 days", evidence="api-doc")
LONGEST = 28 * 86_400


def check(request: Request) -> Iterator[Finding]:
    """Reject a MaxRuntimeInSeconds above the limit of SageMaker."""
    run = request.max_runtime
    if run is not None and run > LONGEST:
        yield RULE.at(
            ("StoppingCondition", "MaxRuntimeInSeconds"),
            f"{HERE} is {request.time(run)}; the maximum is {request.time(LONGEST)}",
            help="use checkpoints, and continue in a second job",
        )
