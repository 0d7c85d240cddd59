"""Keys of KMS, as statements of a policy name them."""

from __future__ import annotations

from smspec.render.iam.statements import Place, Statement, allow


def key_statement(sid: str, actions: list[str], key: object, place: Place) -> list[Statement]:
    """Return the statement about a key that a request names by id, ARN or alias; none where it names none."""
    if not isinstance(key, str) or not key:
        return []
    _, is_alias, alias = key.partition("alias/")
    if is_alias:
        # The ARN of an alias in a policy speaks of the alias itself, not of its key (KMS developer guide, aliases).
        region = key.split(":")[3] if key.startswith("arn:") and key.count(":") >= 5 else None
        resource = _key("*", place, region)
        return [
            allow(sid, actions, [resource], {"ForAnyValue:StringEquals": {"kms:ResourceAliases": f"alias/{alias}"}})
        ]
    return [allow(sid, actions, [key if key.startswith("arn:") else _key(key, place, None)])]


def _key(name: str, place: Place, region: str | None) -> str:
    return f"arn:{place.partition}:kms:{region or place.region}:{place.account}:key/{name}"
