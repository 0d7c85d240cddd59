"""A manifest is one object, not a prefix."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request
from smspec.service.s3_address import key_of

RULE = Rule("SM450", "manifest without an object key", evidence="api-doc")

_MANIFESTS = ("ManifestFile", "AugmentedManifestFile")


def check(request: Request) -> Iterator[Finding]:
    """Reject the address of a folder, or of a whole bucket, for a manifest."""
    for channel in request.channels:
        address = channel.s3.get("S3Uri")
        if channel.s3_data_type in _MANIFESTS and isinstance(address, str) and not _names_an_object(address):
            yield RULE.at(
                (*channel.s3_path, "S3Uri"),
                f"{HERE} is a prefix, but {channel.label} reads a manifest",
                help="use the URI of the manifest, such as `s3://…/train.manifest`,"
                f" or set `{request.word('S3DataType', 's3_data_type')}: S3Prefix`",
            )


def _names_an_object(address: str) -> bool:
    return not address.endswith("/") and key_of(address) != ""
