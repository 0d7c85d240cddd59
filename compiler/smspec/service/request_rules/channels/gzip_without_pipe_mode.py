"""Only a stream is decompressed on its way."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM448", "gzip without Pipe mode", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Refuse CompressionType Gzip in File and FastFile mode."""
    for channel in request.channels:
        if channel.members.get("CompressionType") == "Gzip" and channel.mode in ("File", "FastFile"):
            yield RULE.at(
                (*channel.path, "CompressionType"),
                f"data are decompressed in Pipe mode only, and {channel.said} is in {channel.mode} mode",
                help=f"leave `{request.word('CompressionType', 'compression')}` out and decompress in the program,"
                f" or give the channel `{request.word('InputMode', 'input_mode')}: Pipe`",
            )
