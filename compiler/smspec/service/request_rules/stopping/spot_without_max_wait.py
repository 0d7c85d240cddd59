"""A spot job must set how long it may wait and run."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM464", "managed spot without a maximum wait time", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject managed spot training without MaxWaitTimeInSeconds."""
    if not request.uses_spot or request.is_serverless:
        return
    if "MaxWaitTimeInSeconds" not in structure(request.payload, "StoppingCondition"):
        wait = request.word("StoppingCondition.MaxWaitTimeInSeconds", "spot.max_wait")
        yield RULE.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"`{wait}` is not set",
            help=f"set `{wait}` to the maximum runtime or more",
            on="key",
        )
