"""Statements about the `secrets` of a job, which the smspec runtime fetches with the execution role."""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.render.iam.statements import Place, Statement, allow
from smspec.service.runtime_settings import SecretReference, secret_reference

_ENDING = re.compile(r"-([A-Za-z0-9]{6})\Z")
"""Secrets Manager adds it to the name of a secret."""
_WORD = re.compile(r"[a-z0-9]+|[A-Z0-9]+|[A-Z]?[a-z]+([A-Z][a-z]{2,})*[0-9]*")
"""An ending that may be part of the name: `secret`, `APIKEY`, `ApiKey`. One random ending in eight is one."""


def secret_statements(texts: Iterable[str]) -> list[Statement]:
    """Return what is needed to read the values, whatever key encrypts them."""
    found = [reference for text in texts if (reference := secret_reference(text))]
    secrets = [reference for reference in found if reference.is_secret]
    parameters = [reference for reference in found if not reference.is_secret]
    return [
        *_reading("Secrets", "secretsmanager:GetSecretValue", "SecretARN", secrets),
        *_reading("Parameters", "ssm:GetParameter", "PARAMETER_ARN", parameters),
    ]


def secret_notes(texts: Iterable[str], place: Place) -> list[str]:
    """Return what the policy of the role cannot allow alone."""
    found = [reference for text in texts if (reference := secret_reference(text))]
    if not found:
        return []
    others = sorted({reference.arn for reference in found if place.account not in ("*", reference.account)})
    keys = (
        "kms:Decrypt is only needed for secrets with a customer managed key; the policy of that key must allow it too"
    )
    return [
        keys,
        *(f"{arn} is in a different account: its resource policy must allow the role to read it" for arn in others),
    ]


def _reading(what: str, action: str, context: str, references: list[SecretReference]) -> list[Statement]:
    """Return the statements about values of one service; its encryption context binds the key to these ARNs."""
    if not references:
        return []
    arns = sorted({arn for reference in references for arn in _resources(reference)})
    keys = [f"arn:{each.partition}:kms:{each.region}:{each.account}:key/*" for each in references]
    # Secrets Manager user guide and Systems Manager user guide, encryption context.
    condition: Statement = {"StringLike": {f"kms:EncryptionContext:{context}": arns}}
    return [allow(f"Read{what}", [action], arns), allow(f"Decrypt{what}", ["kms:Decrypt"], keys, condition)]


def _resources(reference: SecretReference) -> list[str]:
    """Return the ARNs for a policy; a secret may be named without the six characters at its end."""
    complete, partial = [reference.arn], [f"{reference.arn}-??????"]
    if not reference.is_secret:
        return complete
    ending = _ENDING.search(reference.name)
    if ending is None:
        return partial
    return complete + partial if _WORD.fullmatch(ending[1]) else complete
