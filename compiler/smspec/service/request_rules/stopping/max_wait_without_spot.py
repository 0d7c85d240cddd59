"""Only a spot job waits for capacity."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM463", "maximum wait time without managed spot", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject MaxWaitTimeInSeconds where managed spot training is not on."""
    if "MaxWaitTimeInSeconds" in structure(request.payload, "StoppingCondition") and not request.uses_spot:
        spot = request.word("EnableManagedSpotTraining: true", "spot: {max_wait: …}")
        yield RULE.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"{HERE} requires managed spot training",
            help=f"remove it, or set `{spot}`",
            on="key",
        )
