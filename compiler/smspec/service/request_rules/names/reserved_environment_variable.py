"""SageMaker sets some variables for every job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM370", "reserved environment variable", "warning", evidence="devguide")
PLATFORM = ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION")


def check(request: Request) -> Iterator[Finding]:
    """Warn about environment variables that SageMaker or the toolkit in the container sets."""
    for name in structure(request.payload, "Environment"):
        if name in PLATFORM or name.startswith("SM_"):
            yield RULE.at(
                ("Environment", name),
                f"`{request.word('Environment', 'environment')}.{shown(name)}` might be overwritten: "
                "SageMaker sets it in the container",
                help="rename the variable",
                on="key",
            )
