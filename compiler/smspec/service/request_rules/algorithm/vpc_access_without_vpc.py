"""A registry that is reached through a VPC needs one."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM438", "VPC access without a VPC", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Refuse TrainingRepositoryAccessMode Vpc in a job without VpcConfig."""
    if request.access_mode == "Vpc" and "VpcConfig" not in request.payload:
        yield RULE.at(
            ("VpcConfig",),
            "the image is to be pulled through a VPC, and the job has none",
            help=f"give `{request.word('VpcConfig', 'network')}` with subnets and security groups",
            cause=("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
        )
