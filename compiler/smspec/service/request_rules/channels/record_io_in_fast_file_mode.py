"""FastFile mode shows objects as files, so there is no stream to wrap."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM340", "RecordIO in FastFile mode", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about RecordWrapperType RecordIO in FastFile mode."""
    for channel in request.channels:
        if channel.members.get("RecordWrapperType") == "RecordIO" and channel.mode == "FastFile":
            yield RULE.at(
                (*channel.path, "RecordWrapperType"),
                f"`{request.word('RecordWrapperType', 'record_wrapper')}` has no effect: {channel.label} is in "
                "FastFile mode",
                help=f"remove it, or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )
