"""A container in network isolation cannot reach Secrets Manager or Parameter Store."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request
from smspec.service.secret_settings import secret_settings

RULE = Rule("SM609", "isolated job that fetches secrets")


def check(request: Request) -> Iterator[Finding]:
    """Reject network isolation where the smspec runtime would fetch secrets."""
    if request.payload.get("EnableNetworkIsolation") is True and secret_settings(request):
        key = request.word("EnableNetworkIsolation", "network.isolation")
        yield RULE.at(
            ("EnableNetworkIsolation",),
            f"{HERE} is true, but the smspec runtime must fetch `secrets` over the network",
            help=f"remove `{key}`, and limit the network with security groups, or remove `secrets`",
        )
