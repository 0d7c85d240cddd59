"""The key of the output can be an alias, the key of the volume cannot."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.member_names import shown
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM348", "alias as the key of a volume", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a VolumeKmsKeyId that is an alias or the ARN of one, where the volume has a key at all."""
    key = structure(request.payload, "ResourceConfig").get("VolumeKmsKeyId")
    if isinstance(key, str) and _is_alias(key) and request.storages != {"nvme"}:
        yield RULE.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"`{request.word('VolumeKmsKeyId', 'hosts.volume_kms_key')}` is the alias `{shown(key)}`; "
            "expected a key ID or ARN",
            help="use the ID or ARN of the key",
        )


def _is_alias(key: str) -> bool:
    arn = parsed_arn(key)
    return (arn.resource if arn else key).startswith("alias/")
