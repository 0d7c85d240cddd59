"""S3 rejects some bucket names that the pattern of the API accepts."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.arns import Arn, parsed_arn
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import bucket_of, can_be_a_bucket, is_access_point, names_access_point
from smspec.source import Path

RULE = Rule("SM454", "invalid bucket name", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject every S3 address whose bucket name is not valid."""
    for path, address in request.s3_addresses:
        if is_access_point(address):
            if not names_access_point(address):
                yield _not_an_access_point(path, parsed_arn(address.removeprefix("s3://")))
            continue
        bucket = bucket_of(address)
        if bucket is not None and not can_be_a_bucket(bucket):
            yield RULE.at(path, f"{HERE}: `{shown(bucket)}` is not a valid S3 bucket name", help=_way_out(bucket))


def _not_an_access_point(path: Path, arn: Arn | None) -> Finding:
    if arn is not None and arn.service == "s3" and not arn.region and not arn.account:
        return RULE.at(path, f"{HERE} is the ARN of a bucket", help=f"use `s3://{shown(arn.resource)}`")
    kind = f"an ARN of `{shown(arn.service)}`" if arn is not None and arn.service != "s3" else "an incomplete ARN"
    return RULE.at(path, f"{HERE} is {kind}, not of an S3 access point", help="use the name of a bucket")


def _way_out(bucket: str) -> str:
    if "<" in bucket or "{" in bucket or "$" in bucket:
        return "replace it with the name of your bucket"
    return "use 3 to 63 lowercase letters, digits, `.`, and `-`; start and end with a letter or digit"
