"""FastFile mode shows a prefix as a directory, and a manifest is none."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM447", "manifest in FastFile mode", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Refuse ManifestFile in FastFile mode."""
    for channel in request.channels:
        if channel.s3_data_type == "ManifestFile" and channel.mode == "FastFile":
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                (*channel.s3_path, "S3DataType"),
                f"{channel.said} is a manifest, and FastFile mode takes a prefix",
                help=f"give the channel `{mode}: File`, or put the objects under one prefix of their own",
            )
