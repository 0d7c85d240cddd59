"""The address of a channel is a prefix of keys: without a `/` at its end, it also matches longer names."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import AS_A_FOLDER, longer_data

RULE = Rule("SM805", "channel that also reads other data", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about `s3://b/train` in a request that has `s3://b/train-old/` too."""
    addresses = [text for _, text in request.s3_addresses]
    in_order = sorted(addresses)
    for channel in request.channels:
        address = channel.prefix
        if address is None:
            continue
        other = min(longer_data(address, in_order), key=addresses.index, default=None)
        if other is not None:
            yield RULE.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} also matches `{shown(other)}`",
                help=AS_A_FOLDER,
            )
