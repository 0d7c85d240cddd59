"""FastFile mode shows a prefix as a directory, and a manifest is not a prefix."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM447", "manifest in FastFile mode", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject ManifestFile in FastFile mode."""
    for channel in request.channels:
        if channel.s3_data_type == "ManifestFile" and channel.mode == "FastFile":
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                (*channel.s3_path, "S3DataType"),
                f"{HERE} is ManifestFile, but {channel.label} uses FastFile mode",
                help=f"set `{mode}: File`, or move the objects to their own prefix",
            )
