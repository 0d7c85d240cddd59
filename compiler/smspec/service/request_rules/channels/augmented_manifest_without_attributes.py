"""Without attribute names SageMaker streams nothing from an augmented manifest."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request

RULE = Rule("SM431", "augmented manifest without attributes", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject AugmentedManifestFile without AttributeNames."""
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        source = structure(channel, "DataSource", "S3DataSource")
        if source.get("S3DataType") == "AugmentedManifestFile" and not source.get("AttributeNames"):
            yield RULE.at(
                ("InputDataConfig", index, "DataSource", "S3DataSource", "S3DataType"),
                f"{HERE} is AugmentedManifestFile, but `{request.word('AttributeNames', 'attributes')}` is not set",
                help="list them in the order in which the script reads them:"
                f" `{request.word('AttributeNames', 'attributes')}: [source-ref, …]`",
            )
