"""Checkpoints and models under one prefix can overwrite each other."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.s3_address import as_s3, key_of

RULE = Rule("SM355", "checkpoints at the output prefix", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about checkpoints and output with one S3 address, and about output below the checkpoints."""
    checkpoints = structure(request.payload, "CheckpointConfig").get("S3Uri")
    output = structure(request.payload, "OutputDataConfig").get("S3OutputPath")
    if not isinstance(checkpoints, str) or not isinstance(output, str):
        return
    above, below = as_s3(checkpoints), as_s3(output).rstrip("/")
    is_same = above.rstrip("/") == below
    # A whole bucket is reported as such.
    if is_same or (key_of(above).strip("/") and f"{below}/".startswith(above)):
        place = "is the output prefix" if is_same else "contains the output prefix"
        yield RULE.at(
            ("CheckpointConfig", "S3Uri"),
            f"`{request.word('CheckpointConfig.S3Uri', 'checkpoints')}` {place}: `{shown(output)}`",
            help="use a separate prefix; later jobs would download the models as checkpoints",
        )
