"""A registry that is reached through a VPC needs one."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM438", "VPC access without a VPC", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject TrainingRepositoryAccessMode Vpc in a job without VpcConfig."""
    if request.access_mode == "Vpc" and "VpcConfig" not in request.payload:
        yield RULE.at(
            ("VpcConfig",),
            f"`{request.word('VpcConfig', 'network')}` is not set, but the image requires VPC access",
            help=f"set `{request.word('VpcConfig', 'network')}` to subnets and security groups",
            cause=("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
        )
