"""Only jobs that fine-tune foundation models read conversations."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM344", "conversations without a serverless job", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about S3DataType Converse in a job that is not serverless."""
    for channel in request.channels:
        if channel.s3_data_type == "Converse" and not request.is_serverless:
            yield RULE.at(
                (*channel.s3_path, "S3DataType"),
                "`S3DataType` is `Converse`, but the job is not serverless",
                help=f"use `S3Prefix`, or set `{request.word('ServerlessJobConfig', 'api.ServerlessJobConfig')}`",
            )
