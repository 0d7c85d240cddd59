"""The API accepts https addresses, but other tools do not find the object under them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM346", "S3 URI with https", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about every S3 address that is written with https."""
    for path, address in request.s3_addresses:
        if address.startswith("https://"):
            yield RULE.at(
                path,
                f"`{request.word(str(path[-1]), 's3')}` starts with `https://` instead of `s3://`",
                help="use s3://<bucket>/<key>",
            )
