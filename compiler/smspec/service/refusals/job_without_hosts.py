"""A request must say what the job runs on."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule

RULE = Rule("SM421", "job without hosts")


def check(request: dict[str, object]) -> Iterator[Finding]:
    """Refuse a request without ResourceConfig, unless the job is serverless."""
    if "ResourceConfig" not in request and "ServerlessJobConfig" not in request:
        yield RULE.at(
            ("ResourceConfig",), "nothing says what the job runs on", help="give an instance type and a number of hosts"
        )
