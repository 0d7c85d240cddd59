"""Only an augmented manifest has attributes."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request

RULE = Rule("SM432", "attributes without an augmented manifest", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject AttributeNames on any other S3DataType."""
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = structure(channel, "DataSource", "S3DataSource")
        if source.get("AttributeNames") and source.get("S3DataType") != "AugmentedManifestFile":
            yield RULE.at(
                ("InputDataConfig", index, "DataSource", "S3DataSource", "AttributeNames"),
                f"{HERE} requires an augmented manifest",
                help="remove the attributes, or set"
                f" `{request.word('S3DataType', 's3_data_type')}: AugmentedManifestFile`",
                on="key",
            )
