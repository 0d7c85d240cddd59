"""A warm pool is made of hosts of one type."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM460", "warm pool with instance groups", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Refuse KeepAlivePeriodInSeconds together with InstanceGroups."""
    if request.keep_alive > 0 and items(request.payload, "ResourceConfig", "InstanceGroups"):
        groups = request.word("InstanceGroups", "hosts.groups")
        yield RULE.at(
            ("ResourceConfig", "KeepAlivePeriodInSeconds"),
            "hosts of instance groups cannot be kept warm",
            help=f"take out this or `{groups}`",
            on="key",
        )
