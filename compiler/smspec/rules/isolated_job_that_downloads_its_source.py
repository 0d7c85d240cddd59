"""A container in network isolation cannot use the network, not even S3; only SageMaker itself delivers data to it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.isolation import isolation_path
from smspec.spec.model import JobSpec

RULE = Rule("SM378", "isolated job that downloads its source", instead_of="SM363")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject network isolation where the container would download the source from S3."""
    path = isolation_path(job)
    if path is not None and job.delivery == "s3":
        yield RULE.at(
            path,
            "`source.delivery: s3` does not work with `network.isolation: true`",
            help="set `source.delivery: channel`",
        )
