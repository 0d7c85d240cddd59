"""The address of a channel is a prefix of keys: without a `/` at its end, it also matches longer names."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import continues_the_name

RULE = Rule("SM805", "channel that also reads other data", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about `s3://b/train` in a request that has `s3://b/train-old/` too."""
    for channel in request.channels:
        address = channel.prefix
        if address is None:
            continue
        other = next((text for _, text in request.s3_addresses if continues_the_name(text, address)), None)
        if other is not None:
            yield RULE.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} also matches `{shown(other)}`",
                help=f"use `{shown(address)}/`; S3 compares prefixes as text",
            )
