"""Files are copied as they are: nothing is wrapped."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM449", "RecordIO in File mode", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Refuse RecordWrapperType RecordIO in File mode."""
    for channel in request.channels:
        if channel.members.get("RecordWrapperType") == "RecordIO" and channel.mode == "File":
            yield RULE.at(
                (*channel.path, "RecordWrapperType"),
                f"no records are wrapped in File mode, and {channel.said} is in it",
                help=f"leave `{request.word('RecordWrapperType', 'record_wrapper')}` out: data that are RecordIO"
                f" already stay so; or give the channel `{request.word('InputMode', 'input_mode')}: Pipe`",
            )
