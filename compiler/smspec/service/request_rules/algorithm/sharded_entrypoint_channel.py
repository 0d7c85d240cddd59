"""Every host starts the program, so every host needs it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.command_channels import program_words
from smspec.service.request import Request

RULE = Rule("SM441", "sharded entrypoint channel", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a program in a channel that is sharded across hosts."""
    for word in program_words(request):
        for channel in request.channels:
            if channel.name == word.channel and channel.s3.get("S3DataDistributionType") == "ShardedByS3Key":
                yield RULE.at(
                    (*channel.s3_path, "S3DataDistributionType"),
                    f"{HERE} is ShardedByS3Key, but {channel.label} contains the entrypoint",
                    help="use FullyReplicated: every host needs the script",
                )
