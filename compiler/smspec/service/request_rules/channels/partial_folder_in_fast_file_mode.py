"""FastFile mode supports whole folders; a prefix without `/` may be the beginning of several names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import key_of

RULE = Rule("SM339", "partial folder in FastFile mode", "warning", evidence="devguide")

# A single object works too.
_OBJECT = r"(?s).+\.[A-Za-z][A-Za-z0-9]{0,9}"


def check(request: Request) -> Iterator[Finding]:
    """Warn about a prefix in FastFile mode that does not end with `/` and does not look like one object."""
    for channel in request.channels:
        address = channel.s3.get("S3Uri")
        if channel.mode != "FastFile" or channel.s3_data_type != "S3Prefix" or not isinstance(address, str):
            continue
        last = key_of(address).rpartition("/")[2]
        if last and not re.fullmatch(_OBJECT, last):
            yield RULE.at(
                (*channel.s3_path, "S3Uri"),
                f"`{request.word('S3Uri', 's3')}` of {channel.label} should end with `/` in FastFile mode: "
                f"`{shown(last)}`",
                help="add `/` to the URI of a folder",
            )
