"""SageMaker chooses the instances of a serverless job, and their volumes."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import number
from smspec.service.request import Request

RULE = Rule("SM481", "volume of a serverless job", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject VolumeSizeInGB in a serverless job."""
    if request.is_serverless and number(request.payload, "ResourceConfig", "VolumeSizeInGB"):
        yield RULE.at(
            ("ResourceConfig", "VolumeSizeInGB"),
            f"{HERE} cannot be combined with `ServerlessJobConfig`",
            help="remove it",
            on="key",
        )
