"""Results of rules are stored under their names."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, member
from smspec.service.request import Request

RULE = Rule("SM472", "duplicate rule configuration", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject two rules with one name, of the debugger or of the profiler."""
    earlier: set[str] = set()
    for list_name in ("DebugRuleConfigurations", "ProfilerRuleConfigurations"):
        for index, rule in enumerate(items(request.payload, list_name)):
            name = member(rule, "RuleConfigurationName")
            if isinstance(name, str):
                if name in earlier:
                    yield RULE.at(
                        (list_name, index, "RuleConfigurationName"),
                        f"duplicate rule configuration `{shown(name)}`",
                        help="rename one; rules of the debugger and the profiler share one namespace",
                    )
                earlier.add(name)
