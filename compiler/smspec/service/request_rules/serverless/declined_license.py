"""Some base models require consent."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM374", "declined license", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about AcceptEula false."""
    if structure(request.payload, "ServerlessJobConfig").get("AcceptEula") is False:
        yield RULE.at(
            ("ServerlessJobConfig", "AcceptEula"),
            "`AcceptEula` is false: the license of the base model is declined",
            help="set `AcceptEula: true` after you read the license",
        )
