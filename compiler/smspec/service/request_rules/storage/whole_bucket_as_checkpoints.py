"""SageMaker copies everything below the checkpoint prefix into the container at startup."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.s3_address import as_s3, bucket_of, is_access_point, key_of

RULE = Rule("SM807", "whole bucket as checkpoints", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a checkpoint address without a key prefix."""
    address = structure(request.payload, "CheckpointConfig").get("S3Uri")
    if not isinstance(address, str) or key_of(as_s3(address)).strip("/"):
        return
    bucket = address.removeprefix("s3://").rstrip("/") if is_access_point(address) else bucket_of(address)
    kind = "access point" if is_access_point(address) else "bucket"
    if bucket:
        yield RULE.at(
            ("CheckpointConfig", "S3Uri"),
            f"{HERE} is the whole {kind} `{shown(bucket)}`",
            help=f"use a prefix, as in `s3://{shown(bucket)}/checkpoints/`; SageMaker downloads all of it at startup",
        )
