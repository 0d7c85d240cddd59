"""Each rule of the debugger and of the profiler runs as a processing job, which has a quota."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM416", "several debugger rules", "note", evidence="third-party")

_MEMBERS = ("DebugRuleConfigurations", "ProfilerRuleConfigurations")


def check(request: Request) -> Iterator[Finding]:
    """Note how many processing instances the rules need: SageMaker rejects a job with more than the quota allows."""
    counts = {name: len(items(request.payload, name)) for name in _MEMBERS}
    total = sum(counts.values())
    if total > 1 and not request.is_serverless:
        first = next(name for name in _MEMBERS if counts[name])
        yield RULE.at(
            (first,),
            f"`{first}`: {total} rules need {total} processing instances, whose quota is not checked",
            help="check the quotas of processing jobs in the account, or remove rules",
            on="key",
        )
