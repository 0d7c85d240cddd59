"""SageMaker decompresses only streams."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM448", "gzip without Pipe mode", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject CompressionType Gzip in File and FastFile mode."""
    for channel in request.channels:
        if channel.members.get("CompressionType") == "Gzip" and channel.mode in ("File", "FastFile"):
            yield RULE.at(
                (*channel.path, "CompressionType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses {channel.mode} mode",
                help=f"remove `{request.word('CompressionType', 'compression')}` and decompress in the script,"
                f" or set `{request.word('InputMode', 'input_mode')}: Pipe`",
            )
