"""Only serverless jobs register their model."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM482", "model package without a serverless job", evidence="third-party-schema")


def check(request: Request) -> Iterator[Finding]:
    """Reject ModelPackageConfig without ServerlessJobConfig."""
    if "ModelPackageConfig" in request.payload and not request.is_serverless:
        yield RULE.at(
            ("ModelPackageConfig",),
            f"{HERE} requires `ServerlessJobConfig`",
            help="remove it, or add `ServerlessJobConfig`",
            on="key",
        )
