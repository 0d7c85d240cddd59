"""Members that exist only in DescribeTrainingJob output."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM434", "response-only member", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject what SageMaker chose for a different job."""
    for name in ("SelectedInstanceType", "SelectedInstanceCount"):
        if name in structure(request.payload, "ResourceConfig"):
            yield RULE.at(
                ("ResourceConfig", name),
                f"{HERE} exists only in DescribeTrainingJob output",
                help="remove it",
                on="key",
            )
