"""SageMaker stores each object of a File channel under its key, in which an empty directory name fails."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import key_of

RULE = Rule("SM803", "double slash in the address of a File channel", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject `//` in the key prefix of a channel in File mode."""
    for channel in request.channels:
        address = channel.prefix
        if address is not None and channel.is_stored_as_files and "//" in f"/{key_of(address)}":
            yield RULE.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} contains `//`: `{shown(address)}`",
                help="remove one `/`; SageMaker fails to download keys that contain `//`",
            )
