"""A mounted file system is read as files."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM444", "file system without File mode", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a file system in a streaming mode."""
    for channel in request.channels:
        if channel.file_system and channel.mode in ("Pipe", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                channel.mode_path,
                f"{HERE} is {channel.mode}, but {channel.label} reads a file system",
                help=f"set `{mode}: File` for the channel",
            )
