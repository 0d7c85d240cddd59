"""Only jobs that customize models read datasets of a hub."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM345", "dataset without a serverless job", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about DatasetSource in a job that is not serverless."""
    for channel in request.channels:
        if "DatasetSource" in structure(channel.members, "DataSource") and not request.is_serverless:
            yield RULE.at(
                (*channel.path, "DataSource", "DatasetSource"),
                f"{channel.label} uses `DatasetSource`, but the job is not serverless",
                help=f"use data in S3, or set `{request.word('ServerlessJobConfig', 'api.ServerlessJobConfig')}`",
                on="key",
            )
