"""Sharding across one host has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM342", "sharding on one host", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ShardedByS3Key where one host gets the channel."""
    for channel in request.channels:
        if channel.s3.get("S3DataDistributionType") == "ShardedByS3Key" and request.hosts_of(channel) == 1:
            yield RULE.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"`ShardedByS3Key` has no effect: one host gets {channel.label}",
                help="remove it, or use more hosts",
            )
