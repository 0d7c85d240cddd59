"""Models can be fine-tuned in several ways."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.shapes import pinned_model

RULE = Rule("SM373", "fine-tuning without a technique", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about JobType FineTuning without CustomizationTechnique."""
    job = structure(request.payload, "ServerlessJobConfig")
    words = one_of(pinned_model().shapes["CustomizationTechnique"].enum)
    if job.get("JobType") == "FineTuning" and "CustomizationTechnique" not in job:
        yield RULE.at(
            ("ServerlessJobConfig", "CustomizationTechnique"),
            "`CustomizationTechnique` is not set, but `JobType` is `FineTuning`",
            help=f"set `CustomizationTechnique` to {words}",
            on="key",
        )
