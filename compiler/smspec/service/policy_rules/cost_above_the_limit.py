"""A job that hangs costs its instances for the maximum runtime."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM748", "cost above the limit", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job whose cost ceiling is above the limit."""
    if policy.max_cost is None:
        return
    # Imported late: few policies limit the cost, and fractions take longer to load than the checks of a spec.
    from smspec.service.cost_ceiling import ceiling_of, dollars
    from smspec.service.instance_time import help_to_shorten, instance_hours

    ceiling = ceiling_of(request.payload, policy.prices, request.region)
    if ceiling is not None and ceiling.usd is not None and ceiling.usd > policy.max_cost:
        yield RULE.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` allows {dollars(policy.max_cost)} for a job, but this one can cost "
            f"{dollars(ceiling.usd)} ({instance_hours(float(ceiling.total))})",
            help=help_to_shorten(request),
        )


def spec_path(_: Request) -> Path:
    """Return the key of the instances: the cost is that of all members of ResourceConfig, and of the runtime."""
    return ("hosts",)
