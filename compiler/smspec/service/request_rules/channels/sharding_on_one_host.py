"""Sharding across one host has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.request import Request
from smspec.service.request_rules.built_in.forest_without_sharded_data import FOREST, SHARDED

RULE = Rule("SM342", "sharding on one host", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ShardedByS3Key where one host gets the channel, except for Random Cut Forest, which requires it."""
    algorithm = built_in_algorithm(request)
    if algorithm is not None and algorithm.name == FOREST:
        return
    for channel in request.channels:
        if channel.s3.get("S3DataDistributionType") == SHARDED and request.hosts_of(channel) == 1:
            yield RULE.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"`ShardedByS3Key` has no effect: one host gets {channel.label}",
                help="remove it, or use more hosts",
            )
