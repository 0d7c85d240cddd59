"""Conversations are read by the jobs that fine-tune foundation models."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM344", "conversations without a serverless job", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn of S3DataType Converse in a job with hosts of its own."""
    for channel in request.channels:
        if channel.s3_data_type == "Converse" and not request.is_serverless:
            yield RULE.at(
                (*channel.s3_path, "S3DataType"),
                "`Converse` is for fine-tuning a foundation model, and this is no serverless job",
                help=f"say `S3Prefix`, or give `{request.word('ServerlessJobConfig', 'api.ServerlessJobConfig')}`",
            )
