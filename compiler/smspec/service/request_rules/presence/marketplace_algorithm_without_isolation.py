"""Algorithms from AWS Marketplace run in network isolation."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM359", "marketplace algorithm without network isolation", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about the algorithm of a different account in a container with a network.

    One of the same account may have one.
    """
    arn, role = parsed_arn(structure(request.payload, "AlgorithmSpecification").get("AlgorithmName")), request.role
    if arn is None or role is None or arn.account == role.account:
        return
    if request.payload.get("EnableNetworkIsolation") is not True:
        isolation = request.word("EnableNetworkIsolation: true", "network: {isolation: true}")
        yield RULE.at(
            ("EnableNetworkIsolation",),
            f"`{shown(arn.resource)}` might be from AWS Marketplace and require `{isolation}`",
            help=f"add `{isolation}`",
            on="key",
            cause=("AlgorithmSpecification", "AlgorithmName"),
        )
