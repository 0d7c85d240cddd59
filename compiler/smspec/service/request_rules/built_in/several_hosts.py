"""Some built-in algorithms train on one host only."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM494", "several hosts for a single-host algorithm", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject more than one host for an algorithm that the guide limits to one."""
    count = request.host_count
    if count is None or count < 2:
        return
    algorithm = built_in_algorithm(request)
    if algorithm is not None and algorithm.hosts == "one":
        groups = items(request.payload, "ResourceConfig", "InstanceGroups")
        word = (
            request.word("InstanceGroups", "hosts.groups") if groups else request.word("InstanceCount", "hosts.count")
        )
        yield RULE.at(
            ("ResourceConfig", "InstanceGroups" if groups else "InstanceCount"),
            f"`{word}` is {count:,} hosts in all; the maximum for `{algorithm.name}` is 1"
            if groups
            else f"`{word}` is {count:,}; the maximum for `{algorithm.name}` is 1",
            help="set the count to 1, and use a larger instance type if one is too slow",
        )
