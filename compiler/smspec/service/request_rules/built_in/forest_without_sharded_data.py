"""Random Cut Forest divides its training data over its hosts."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.request import Request

RULE = Rule("SM496", "random cut forest without sharded data", evidence="devguide")

FOREST, SHARDED = "randomcutforest", "ShardedByS3Key"


def check(request: Request) -> Iterator[Finding]:
    """Reject a channel `train` of Random Cut Forest in S3 that each host gets all of, which is the default."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or algorithm.name != FOREST:
        return
    for channel in request.channels:
        if channel.name == "train" and channel.s3 and channel.s3.get("S3DataDistributionType") != SHARDED:
            word = request.word("S3DataDistributionType", "channels.train.distribution")
            yield RULE.at(
                (*channel.s3_path, "S3DataDistributionType"),
                f"`{word}` is not `{SHARDED}`, which `{FOREST}` requires",
                help=f"set it to `{SHARDED}`",
            )
