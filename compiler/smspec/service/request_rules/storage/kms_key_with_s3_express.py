"""Directory buckets do not support a KMS key of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.service.s3_address import EXPRESS_SUFFIX, bucket_of

RULE = Rule("SM455", "KMS key with S3 Express", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject KmsKeyId where the output goes to S3 Express One Zone."""
    output = structure(request.payload, "OutputDataConfig")
    address = output.get("S3OutputPath")
    bucket = bucket_of(address) if isinstance(address, str) else None
    # An empty key is not a key: DescribeTrainingJob returns one.
    if bucket and bucket.endswith(EXPRESS_SUFFIX) and output.get("KmsKeyId"):
        yield RULE.at(
            ("OutputDataConfig", "KmsKeyId"),
            f"{HERE} is not supported by the S3 Express bucket `{shown(bucket)}`",
            help="remove the key, or use a general purpose bucket",
            on="key",
        )
