"""SageMaker shuffles only S3 objects."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM341", "shuffled file system", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ShuffleConfig on a file system."""
    for channel in request.channels:
        if channel.file_system and "ShuffleConfig" in channel.members:
            yield RULE.at(
                (*channel.path, "ShuffleConfig"),
                f"`{request.word('ShuffleConfig', 'shuffle_seed')}` has no effect: {channel.label} uses a file system",
                help="remove it, and shuffle in the script",
                on="key",
            )
