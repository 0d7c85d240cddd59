"""Rules of an organization about a whole request: one file per rule, named after the problem.

They check the request, so they apply to every job, from a spec or a raw request, and to `api` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.service.policy import Policy
from smspec.service.policy_rules import (
    cost_above_the_limit,
    disallowed_instance_family,
    disallowed_region,
    disallowed_registry,
    job_outside_a_vpc,
    missing_tag,
    request_above_a_quota,
    storage_without_a_kms_key,
    too_many_instance_hours,
    unknown_cost,
)
from smspec.service.request import Request
from smspec.source import Path

Check = Callable[[Request, Policy], Iterator[Finding]]

RULES: tuple[Check, ...] = (
    missing_tag.check,
    disallowed_instance_family.check,
    disallowed_region.check,
    disallowed_registry.check,
    storage_without_a_kms_key.check,
    job_outside_a_vpc.check,
    cost_above_the_limit.check,
    too_many_instance_hours.check,
    unknown_cost.check,
    request_above_a_quota.check,
)


SPEC_PATHS: dict[Check, Callable[[Request], Path | None]] = {
    disallowed_region.check: disallowed_region.spec_path,
    job_outside_a_vpc.check: job_outside_a_vpc.spec_path,
    cost_above_the_limit.check: cost_above_the_limit.spec_path,
    too_many_instance_hours.check: too_many_instance_hours.spec_path,
    unknown_cost.check: unknown_cost.spec_path,
}
"""Rules about what the request has no member for, and the key of the spec that each is about."""


def policy_findings(request: Request, policy: Policy) -> Iterator[Finding]:
    """Yield everything in a request that violates a policy, at paths of the request."""
    for rule in RULES:
        yield from rule(request, policy)


def policy_findings_in_spec(
    request: Request, policy: Policy, at_origin: Callable[[Finding], Finding]
) -> Iterator[Finding]:
    """Yield the same at paths of the spec; ``at_origin`` moves a finding to the key that its member was made from."""
    for rule in RULES:
        path = SPEC_PATHS[rule](request) if rule in SPEC_PATHS else None
        for finding in rule(request, policy):
            yield at_origin(finding) if path is None else finding.moved(path)
