"""A single host sends nothing to itself over the network."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM356", "inter-container encryption with one host", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about EnableInterContainerTrafficEncryption on one host."""
    if request.payload.get("EnableInterContainerTrafficEncryption") is True and request.host_count == 1:
        yield RULE.at(
            ("EnableInterContainerTrafficEncryption",),
            f"`{request.word('EnableInterContainerTrafficEncryption', 'network.encrypt_inter_container')}` "
            "has no effect with one host",
            help="remove it, or use more hosts",
        )
