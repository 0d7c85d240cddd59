"""S3 has no bucket of such a name, though the pattern of the API lets it pass."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import bucket_of, can_be_a_bucket

RULE = Rule("SM454", "invalid bucket name", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Refuse every S3 address whose bucket no account could have."""
    for path, address in request.s3_addresses:
        bucket = bucket_of(address)
        if bucket is not None and not can_be_a_bucket(bucket):
            yield RULE.at(path, f"`{shown(bucket)}` is not the name of a bucket", help=_way_out(bucket))


def _way_out(bucket: str) -> str:
    if "<" in bucket or "{" in bucket or "$" in bucket:
        return "put the name of your bucket there"
    return "a bucket has 3 to 63 lower-case letters, digits, `.` and `-`, with a letter or digit first and last"
