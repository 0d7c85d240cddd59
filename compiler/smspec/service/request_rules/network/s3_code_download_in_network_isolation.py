"""The toolkit downloads the code of a job over the network."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM363", "S3 code download in network isolation", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about sagemaker_submit_directory in S3 where the container has no network."""
    place = structure(request.payload, "HyperParameters").get("sagemaker_submit_directory")
    isolated = request.payload.get("EnableNetworkIsolation") is True
    if isolated and isinstance(place, str) and place.strip('"').startswith("s3://"):
        delivery = request.word(
            "a channel `code`, and `/opt/ml/input/data/code/sourcedir.tar.gz` here", "`source: {delivery: channel}`"
        )
        yield RULE.at(
            ("HyperParameters", "sagemaker_submit_directory"),
            f"`{request.word('EnableNetworkIsolation', 'network.isolation')}: true` blocks the S3 download of the code",
            help=f"use {delivery}",
        )
