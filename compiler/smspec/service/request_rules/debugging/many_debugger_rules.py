"""Each rule of the debugger and of the profiler runs as a processing job, which has a quota."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM416", "many debugger rules", "note", evidence="third-party")

_SMALL_QUOTA = 4
"""Processing instances: the quota in the service message of a rejected job."""

_MEMBERS = ("DebugRuleConfigurations", "ProfilerRuleConfigurations")


def check(request: Request) -> Iterator[Finding]:
    """Note how many processing instances the rules need: SageMaker rejects a job with more than the quota allows."""
    counts = {name: len(items(request.payload, name)) for name in _MEMBERS}
    total = sum(counts.values())
    if total > _SMALL_QUOTA and not request.is_serverless:
        first = next(name for name in _MEMBERS if counts[name])
        yield RULE.at(
            (first,),
            f"`{first}`: {total} rules need {total} processing instances; quota not checked",
            help="check the quotas of processing jobs in the account, or remove rules",
            on="key",
        )
