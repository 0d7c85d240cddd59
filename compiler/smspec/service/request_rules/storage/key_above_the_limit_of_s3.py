"""S3 has a limit for keys in bytes, and the API only one in characters."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request
from smspec.service.s3_address import LONGEST_KEY, as_s3, key_of

RULE = Rule("SM808", "S3 key above the limit", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject an S3 address whose key is longer than any key can be."""
    for path, address in request.s3_addresses:
        size = len(key_of(as_s3(address)).encode("utf-8", "surrogatepass"))
        if size > LONGEST_KEY:
            yield RULE.at(
                path,
                f"{HERE} has a key of {size:,} bytes; the maximum is {LONGEST_KEY:,}",
                help="shorten it: letters outside ASCII take 2 to 4 bytes",
            )
