"""The instances of a warm pool have one type."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM460", "warm pool with instance groups", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject KeepAlivePeriodInSeconds together with InstanceGroups."""
    if request.keep_alive > 0 and items(request.payload, "ResourceConfig", "InstanceGroups"):
        groups = request.word("InstanceGroups", "hosts.groups")
        yield RULE.at(
            ("ResourceConfig", "KeepAlivePeriodInSeconds"),
            f"{HERE} cannot be combined with `{groups}`",
            help=f"remove one of them, this key or `{groups}`",
            on="key",
        )
