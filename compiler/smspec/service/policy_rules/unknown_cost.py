"""A limit on the cost cannot be checked without a price."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.instance_time import instance_time
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM750", "unknown cost", "note", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Report that the cost of a job was not checked, because an instance type has no price."""
    time = None if policy.max_cost is None else instance_time(request.payload)
    if time is None:
        return
    prices = (policy.priced_by or policy.prices).of(request.payload, request.region)
    missing = sorted(kind for kind in time.seconds if prices.dollars(kind) is None)
    if missing:
        yield RULE.at(
            ("ResourceConfig",),
            f"`{policy.file_of('max_cost')}` has no price of {one_of(missing)}, so the cost of the job was not checked",
            help=f'run `smspec prices --update`, or add it to `[prices]`: `"{missing[0]}" = …`',
        )


def spec_path(_: Request) -> Path:
    """Return the key of the instances, whatever sets their type."""
    return ("hosts",)
