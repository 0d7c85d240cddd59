"""Instance hours can be limited without knowing prices."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.instance_time import help_to_shorten, instance_hours, instance_time
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM749", "too many instance hours", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job that may use its instances for longer than the limit, in total."""
    time = None if policy.max_hours is None else instance_time(request.payload)
    if time is None or policy.max_hours is None:
        return
    seconds = sum(time.seconds.values())
    if seconds > policy.max_hours * 3600:
        file = policy.file_of("max_hours")
        yield RULE.at(
            ("ResourceConfig",),
            f"`{file}` allows {instance_hours(float(policy.max_hours))} for a job, but this one can use "
            f"{instance_hours(seconds / 3600)}",
            help=help_to_shorten(request),
        )


def spec_path(_: Request) -> Path:
    """Return the key of the instances: the hours are those of all groups."""
    return ("hosts",)
