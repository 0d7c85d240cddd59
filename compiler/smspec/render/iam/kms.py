"""Keys of KMS, as statements of a policy name them."""

from __future__ import annotations

from smspec.render.iam.statements import Place, Statement, allow


def key_statement(sid: str, actions: list[str], key: object, place: Place) -> list[Statement]:
    """Return the statement about a key that a request names by id, ARN or alias; none where it names none."""
    if not isinstance(key, str) or not key:
        return []
    where, is_alias, alias = key.partition("alias/")
    if is_alias:
        # The ARN of an alias in a policy speaks of the alias itself, not of its key (KMS developer guide, aliases).
        # The key lies where the alias does: its region, its account.
        named: Statement = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": f"alias/{alias}"}}
        return [allow(sid, actions, [f"{where or place.arn('kms', '')}key/*"], named)]
    return [allow(sid, actions, [key if key.startswith("arn:") else place.arn("kms", f"key/{key}")])]
