"""Fine-tuning and evaluation read different members."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM372", "member of a different serverless job type", "warning", evidence="inferred")
READERS = {"EvaluationType": "Evaluation", "CustomizationTechnique": "FineTuning", "Peft": "FineTuning"}


def check(request: Request) -> Iterator[Finding]:
    """Warn about members that the JobType of a serverless job does not read."""
    job = structure(request.payload, "ServerlessJobConfig")
    kind = job.get("JobType")
    for name, reader in READERS.items():
        if name in job and kind in READERS.values() and kind != reader:
            yield RULE.at(
                ("ServerlessJobConfig", name),
                f"`{name}` is for `JobType: {reader}`, but the type is `{kind}`",
                help="remove it",
                on="key",
            )
