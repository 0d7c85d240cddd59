"""A request must set what the job runs on."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM421", "job without instances", evidence="third-party-schema")


def check(request: Request) -> Iterator[Finding]:
    """Reject a request without ResourceConfig, unless the job is serverless."""
    if "ResourceConfig" not in request.payload and not request.is_serverless:
        hosts = request.word("ResourceConfig", "hosts")
        yield RULE.at(
            ("ResourceConfig",),
            f"`{hosts}` is not set",
            help=f"set `{hosts}` to an instance type and a count",
        )
