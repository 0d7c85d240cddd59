"""Only Pipe mode supports the attributes of an augmented manifest."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM446", "augmented manifest without Pipe mode", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject AugmentedManifestFile in File and FastFile mode."""
    for channel in request.channels:
        if channel.s3_data_type == "AugmentedManifestFile" and channel.mode in ("File", "FastFile"):
            mode = request.word("InputMode", "input_mode")
            yield RULE.at(
                (*channel.s3_path, "S3DataType"),
                f"{HERE} requires Pipe mode, but {channel.label} uses {channel.mode} mode",
                help=f"set `{mode}: Pipe` for the channel",
            )
