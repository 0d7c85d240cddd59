"""SageMaker copies everything below the checkpoint prefix into the container at startup."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.s3_address import bucket_of, is_access_point, key_of

RULE = Rule("SM807", "whole bucket as checkpoints", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a checkpoint address without a key prefix."""
    address = structure(request.payload, "CheckpointConfig").get("S3Uri")
    if not isinstance(address, str) or not address.startswith("s3://") or is_access_point(address):
        return
    bucket = bucket_of(address)
    if bucket and not key_of(address).strip("/"):
        yield RULE.at(
            ("CheckpointConfig", "S3Uri"),
            f"{HERE} is the whole bucket `{shown(bucket)}`",
            help=f"use a prefix, as in `s3://{shown(bucket)}/checkpoints/`; SageMaker downloads all of it at startup",
        )
