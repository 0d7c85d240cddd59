"""Files are copied unchanged: nothing is wrapped."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM449", "RecordIO in File mode", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject RecordWrapperType RecordIO in File mode."""
    for channel in request.channels:
        if channel.members.get("RecordWrapperType") == "RecordIO" and channel.mode == "File":
            yield RULE.at(
                (*channel.path, "RecordWrapperType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses File mode",
                help=f"remove `{request.word('RecordWrapperType', 'record_wrapper')}` if the data are RecordIO already,"
                f" or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )
