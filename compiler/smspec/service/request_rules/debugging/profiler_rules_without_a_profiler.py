"""Rules of the profiler check what the profiler wrote."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM367", "profiler rules without a profiler", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ProfilerRuleConfigurations without ProfilerConfig, which a serverless job cannot have."""
    if request.is_serverless:
        return
    if items(request.payload, "ProfilerRuleConfigurations") and "ProfilerConfig" not in request.payload:
        yield RULE.at(
            ("ProfilerRuleConfigurations",),
            "`ProfilerRuleConfigurations` is set, but `ProfilerConfig` is not",
            help="add `ProfilerConfig` with an S3 URI for the output",
            on="key",
        )
