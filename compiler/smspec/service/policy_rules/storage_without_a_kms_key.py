"""A customer managed key controls who can read what is stored, and can be revoked."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.instance_families import family, storage
from smspec.service.members import member, structure
from smspec.service.policy import Policy
from smspec.service.request import Request

RULE = Rule("SM744", "storage without a KMS key", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject an output, and a volume that can have one, without a KMS key."""
    if not policy.require_kms:
        return
    if not member(request.payload, "OutputDataConfig", "KmsKeyId"):
        yield RULE.at(
            ("OutputDataConfig", "KmsKeyId"),
            f"`{policy.file_of('require_kms')}` requires a KMS key, but "
            f"`{request.word('OutputDataConfig.KmsKeyId', 'output.kms_key')}` is not set",
            help="add the key, or ask the policy owner",
            on="key",
        )
    hosts = structure(request.payload, "ResourceConfig")
    types = [instance_type for _, instance_type in request.instance_types]
    # SageMaker encrypts local NVMe storage automatically, and rejects a key for it.
    may_have_key = bool(types) and all(storage(each) == "ebs" and family(each) for each in types)
    if may_have_key and not hosts.get("VolumeKmsKeyId"):
        yield RULE.at(
            ("ResourceConfig", "VolumeKmsKeyId"),
            f"`{policy.file_of('require_kms')}` requires a KMS key, but "
            f"`{request.word('ResourceConfig.VolumeKmsKeyId', 'hosts.volume_kms_key')}` is not set",
            help="add the key, or ask the policy owner",
            on="key",
        )
