"""A mounted file system is read as files."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM444", "file system without File mode", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Refuse a file system that is to be streamed."""
    for channel in request.channels:
        if channel.file_system and channel.mode in ("Pipe", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                channel.mode_path,
                f"{channel.said} is a file system, and {channel.mode} mode is for data in S3",
                help=f"give the channel `{mode}: File`",
            )
