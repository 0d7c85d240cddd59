"""Limits of a policy for what a job can cost."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.instance_time import help_to_shorten, instance_hours, instance_time
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

COST_ABOVE_THE_LIMIT = Rule("SM748", "cost above the limit", evidence="policy", needs_every_layer=True)


def cost_above_the_limit(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job whose cost ceiling is above the limit.

    A job that hangs costs its instances for the maximum runtime.
    """
    if policy.max_cost is None:
        return
    # Imported late: few policies limit the cost, and fractions take longer to load than the checks of a spec.
    from smspec.service.cost_ceiling import ceiling_of, dollars

    ceiling = ceiling_of(request.payload, policy.prices, request.region)
    if ceiling is not None and ceiling.usd is not None and ceiling.usd > policy.max_cost:
        yield COST_ABOVE_THE_LIMIT.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` allows {dollars(policy.max_cost)} for a job, but this one can cost "
            f"{dollars(ceiling.usd)} ({instance_hours(float(ceiling.total))})",
            help=help_to_shorten(request),
        )


TOO_MANY_INSTANCE_HOURS = Rule("SM749", "too many instance hours", evidence="policy", needs_every_layer=True)


def too_many_instance_hours(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job that may use its instances for longer than the limit, in total.

    Instance hours can be limited without knowing prices.
    """
    time = None if policy.max_hours is None else instance_time(request.payload)
    if time is None or policy.max_hours is None:
        return
    seconds = sum(time.seconds.values())
    if seconds > policy.max_hours * 3600:
        file = policy.file_of("max_hours")
        yield TOO_MANY_INSTANCE_HOURS.at(
            ("ResourceConfig",),
            f"`{file}` allows {instance_hours(float(policy.max_hours))} for a job, but this one can use "
            f"{instance_hours(seconds / 3600)}",
            help=help_to_shorten(request),
        )


UNKNOWN_COST = Rule("SM750", "unknown cost", "note", evidence="policy", needs_every_layer=True)


def unknown_cost(request: Request, policy: Policy) -> Iterator[Finding]:
    """Report that the cost of a job was not checked, because an instance type has no price.

    A limit on the cost cannot be checked without a price.
    """
    time = None if policy.max_cost is None else instance_time(request.payload)
    if time is None:
        return
    prices = (policy.priced_by or policy.prices).of(request.payload, request.region)
    missing = sorted(kind for kind in time.seconds if prices.dollars(kind) is None)
    if missing:
        yield UNKNOWN_COST.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` has no price of {one_of(missing)}, so the cost of the job was not checked",
            help=f'run `smspec prices --update`, or add it to `[prices]`: `"{missing[0]}" = …`',
        )


def _key_of_the_instances(_: Request) -> Path:
    """Return the key for what all members of ResourceConfig, and the runtime, are about together."""
    return ("hosts",)


RULES = {
    cost_above_the_limit: _key_of_the_instances,
    too_many_instance_hours: _key_of_the_instances,
    unknown_cost: _key_of_the_instances,
}
