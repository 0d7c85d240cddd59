"""Rules of an organization about a whole request: a function per rule.

They check the request, so they apply to every job, from a spec or a raw request, and to `api` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.service.policy import Policy
from smspec.service.policy_rules import limits, requirements
from smspec.service.request import Request
from smspec.source import Path

Check = Callable[[Request, Policy], Iterator[Finding]]
KeyOfSpec = Callable[[Request], Path | None]

RULES: dict[Check, KeyOfSpec | None] = {**requirements.RULES, **limits.RULES}
"""Rule → the key of the spec that it is about, where the request has no member for that."""


def policy_findings(request: Request, policy: Policy) -> Iterator[Finding]:
    """Yield everything in a request that violates a policy, at paths of the request."""
    for rule in RULES:
        yield from rule(request, policy)


def policy_findings_in_spec(
    request: Request, policy: Policy, at_origin: Callable[[Finding], Finding]
) -> Iterator[Finding]:
    """Yield the same at paths of the spec; ``at_origin`` moves a finding to the key that its member was made from."""
    for rule, key_of_spec in RULES.items():
        path = key_of_spec(request) if key_of_spec else None
        for finding in rule(request, policy):
            yield at_origin(finding) if path is None else finding.moved(path)
