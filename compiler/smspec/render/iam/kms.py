"""KMS keys in statements of a policy."""

from __future__ import annotations

from smspec.plan.plan import Plan
from smspec.render.iam.statements import Place, Statement, allow


def source_key(plan: Plan) -> str | None:
    """Return the KMS key of the source and the runtime in S3: they have the same one, or none."""
    return next((upload.kms_key for upload in plan.uploads), None)


def key_statement(sid: str, actions: list[str], key: object, place: Place) -> list[Statement]:
    """Return the statement about a key that a request sets by id, ARN, or alias; none if it sets none."""
    if not isinstance(key, str) or not key:
        return []
    where, is_alias, alias = key.partition("alias/")
    if is_alias:
        # The ARN of an alias in a policy refers to the alias itself, not to its key (KMS developer guide, aliases).
        # The key is in the region and account of the alias.
        named: Statement = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": f"alias/{alias}"}}
        return [allow(sid, actions, [f"{where or place.arn('kms', '')}key/*"], named)]
    return [allow(sid, actions, [key if key.startswith("arn:") else place.arn("kms", f"key/{key}")])]
