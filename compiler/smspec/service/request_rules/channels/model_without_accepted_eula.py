"""The model is available only to those who accept its license."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM452", "model without an accepted EULA", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject ModelAccessConfig that declines the license."""
    for channel in request.channels:
        if structure(channel.s3, "ModelAccessConfig").get("AcceptEula") is False:
            yield RULE.at(
                (*channel.s3_path, "ModelAccessConfig", "AcceptEula"),
                f"{HERE} is false, but {channel.label} requires it to be true",
                help="read the license, and set it to true if you accept it",
            )
