"""Checkpoints and models under one prefix can overwrite each other."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM355", "checkpoints at the output prefix", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about checkpoints and output with one S3 address."""
    checkpoints = structure(request.payload, "CheckpointConfig").get("S3Uri")
    output = structure(request.payload, "OutputDataConfig").get("S3OutputPath")
    if isinstance(checkpoints, str) and isinstance(output, str) and checkpoints.rstrip("/") == output.rstrip("/"):
        yield RULE.at(
            ("CheckpointConfig", "S3Uri"),
            f"`{request.word('CheckpointConfig.S3Uri', 'checkpoints')}` is the output prefix: `{shown(checkpoints)}`",
            help="use a separate prefix; later jobs would download the models as checkpoints",
        )
