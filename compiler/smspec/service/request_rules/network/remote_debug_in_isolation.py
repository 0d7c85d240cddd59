"""Remote debugging needs the network."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM358", "remote debugging in network isolation", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about EnableRemoteDebug in a container without a network."""
    isolated = request.payload.get("EnableNetworkIsolation") is True
    if isolated and structure(request.payload, "RemoteDebugConfig").get("EnableRemoteDebug") is True:
        isolation = request.word("EnableNetworkIsolation", "network.isolation")
        yield RULE.at(
            ("RemoteDebugConfig", "EnableRemoteDebug"),
            f"`EnableRemoteDebug` has no effect with `{isolation}: true`",
            help=f"remove it, or `{isolation}`",
        )
