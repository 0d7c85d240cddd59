"""The key of the source encrypts objects in S3, and a source in the image is none."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM615", "KMS key without an upload", "warning")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about `source.kms_key` if nothing is uploaded that it could encrypt."""
    if job.source is not None and job.source.kms_key is not None and job.delivery == "image":
        yield RULE.at(
            ("source", "kms_key"),
            "`source.kms_key` has no effect: the source is copied into the image",
            help="remove `kms_key`, or set `source.delivery` to `channel` or `s3`",
        )
