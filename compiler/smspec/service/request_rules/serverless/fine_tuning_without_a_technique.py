"""Models can be fine-tuned in several ways."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.shapes import pinned_model

RULE = Rule("SM373", "fine-tuning without a technique", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn of JobType FineTuning without CustomizationTechnique."""
    job = structure(request.payload, "ServerlessJobConfig")
    words = ", ".join(f"`{word}`" for word in pinned_model().shapes["CustomizationTechnique"].enum)
    if job.get("JobType") == "FineTuning" and "CustomizationTechnique" not in job:
        yield RULE.at(
            ("ServerlessJobConfig", "CustomizationTechnique"),
            "nothing says how the model is fine-tuned",
            help=f"give `CustomizationTechnique`: {words}",
            on="key",
        )
