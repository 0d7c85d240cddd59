"""Rules of the debugger check what its hook saved."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM366", "debugger rules without a hook", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about DebugRuleConfigurations without DebugHookConfig, which a serverless job cannot have."""
    if request.is_serverless:
        return
    if items(request.payload, "DebugRuleConfigurations") and "DebugHookConfig" not in request.payload:
        yield RULE.at(
            ("DebugRuleConfigurations",),
            "`DebugRuleConfigurations` is set, but `DebugHookConfig` is not",
            help="add `DebugHookConfig` with an S3 URI for the tensors",
            on="key",
        )
