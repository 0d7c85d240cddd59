"""Rules of an organisation about a whole request: one file a rule, named after the bad thing.

They look at the request, so that a job is held to them whoever wrote it, and through `api` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.service.policy import Policy
from smspec.service.policy_rules import (
    instance_family_that_is_not_allowed,
    job_outside_a_vpc,
    missing_tag,
    region_that_is_not_allowed,
    registry_that_is_not_allowed,
    storage_without_a_key,
)
from smspec.service.request import Request

RULES: tuple[Callable[[Request, Policy], Iterator[Finding]], ...] = (
    missing_tag.check,
    instance_family_that_is_not_allowed.check,
    region_that_is_not_allowed.check,
    registry_that_is_not_allowed.check,
    storage_without_a_key.check,
    job_outside_a_vpc.check,
)


def policy_findings(request: Request, policy: Policy) -> Iterator[Finding]:
    """Yield everything in which a request does not keep to a policy, at paths of the request."""
    for rule in RULES:
        yield from rule(request, policy)
