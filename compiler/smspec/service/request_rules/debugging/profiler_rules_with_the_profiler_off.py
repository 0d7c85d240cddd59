"""Rules of the profiler check what the profiler wrote."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request

RULE = Rule("SM365", "profiler rules with the profiler off", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ProfilerRuleConfigurations together with DisableProfiler."""
    is_off = structure(request.payload, "ProfilerConfig").get("DisableProfiler") is True
    if is_off and items(request.payload, "ProfilerRuleConfigurations"):
        yield RULE.at(
            ("ProfilerRuleConfigurations",),
            "`ProfilerRuleConfigurations` has no effect: `DisableProfiler` is true",
            help="remove the rules, or `DisableProfiler`",
            on="key",
        )
