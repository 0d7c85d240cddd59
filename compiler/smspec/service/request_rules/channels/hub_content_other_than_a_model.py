"""A channel can use a hub only for a reference to a model."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM343", "hub content other than a model reference", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a HubContentArn of a different content type."""
    for channel in request.channels:
        arn = structure(channel.s3, "HubAccessConfig").get("HubContentArn")
        if isinstance(arn, str) and "/ModelReference/" not in arn:
            yield RULE.at(
                (*channel.s3_path, "HubAccessConfig", "HubContentArn"),
                "`HubContentArn` is not the ARN of a ModelReference",
                help="use arn:aws:sagemaker:<region>:<account>:hub-content/<hub>/ModelReference/<model>/<version>",
            )
