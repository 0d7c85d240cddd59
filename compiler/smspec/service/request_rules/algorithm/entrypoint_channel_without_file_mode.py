"""A program is started from a disk, so its channel must be copied there."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.command_channels import program_words
from smspec.service.request import Request

RULE = Rule("SM440", "entrypoint channel without File mode", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a program in a channel that is streamed."""
    for word in program_words(request):
        for channel in request.channels:
            if channel.name == word.channel and channel.mode in ("Pipe", "FastFile"):
                mode = request.word("InputMode", "input_mode")
                yield RULE.at(
                    channel.mode_path,
                    f"{HERE} is {channel.mode}, but {channel.label} contains the entrypoint",
                    help=f"set `{mode}: File` for the channel",
                )
