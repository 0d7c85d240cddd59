"""One host sends nothing to itself over the network."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM356", "inter-container encryption with one host", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn of EnableInterContainerTrafficEncryption on one host."""
    if request.payload.get("EnableInterContainerTrafficEncryption") is True and request.host_count == 1:
        yield RULE.at(
            ("EnableInterContainerTrafficEncryption",),
            "the job has one host, so there is no traffic between hosts to encrypt",
            help="take it out, or leave it for the day on which the job has more hosts",
        )
