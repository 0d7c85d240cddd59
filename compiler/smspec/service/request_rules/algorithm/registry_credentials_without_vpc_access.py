"""Only a private registry in a VPC uses credentials."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM334", "registry credentials without Vpc access", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about TrainingRepositoryAuthConfig where the platform itself pulls the image."""
    here = "TrainingRepositoryAuthConfig"
    if request.access_mode == "Platform" and here in structure(request.algorithm, "TrainingImageConfig"):
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImageConfig", here),
            "`TrainingRepositoryAuthConfig` has no effect: `TrainingRepositoryAccessMode` is `Platform`",
            help="remove it, or set `TrainingRepositoryAccessMode: Vpc`",
            on="key",
        )
