"""The account of a job: that of its execution role, which the credentials must belong to, and never that of examples.

No file of the repository contains the account of the credentials, so STS is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.client import AwsUnavailable, asked
from smspec.wire.aws import AwsSession

EXAMPLE_ACCOUNT = "111122223333"
"""Of the documentation of AWS, of the specs that `smspec init` writes, and of the examples."""

_ARN = re.compile(rf"arn:[^:]*:[^:]*:[^:]*:{EXAMPLE_ACCOUNT}:")
_REGISTRY = f"{EXAMPLE_ACCOUNT}.dkr.ecr."


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The identity behind the credentials, as STS names it."""

    account: str
    arn: str


def caller_of(profile: str | None, region: str | None) -> Caller:
    """Return who the credentials belong to, which needs no permission. Raise `AwsUnavailable`."""
    with asked("the account of the credentials", "sts:GetCallerIdentity"):
        answer = AwsSession(profile, region).client("sts").get_caller_identity()
    account, arn = answer.get("Account"), answer.get("Arn")
    if not isinstance(account, str) or not isinstance(arn, str):
        raise AwsUnavailable("the STS response does not contain the account of the credentials")
    return Caller(account=account, arn=arn)


def role_account(requests: Iterable[Mapping[str, Any]]) -> str:
    """Return the account of the execution role, which is that of the job; empty if the request has no ARN of a role."""
    for request in requests:
        fields = str(request.get("RoleArn", "")).split(":")
        if len(fields) > 5 and fields[4]:
            return fields[4]
    return ""


def account_fault(caller: Caller, account: str) -> str:
    """Return why a caller cannot create a job in an account; empty if it can."""
    if not account or caller.account == account:
        return ""
    return (
        f"the execution role belongs to account {account}, but the AWS credentials to {caller.account}"
        f" ({caller.arn}); set `--profile` to one of account {account}"
    )


def example_account_fault(request: Any, built_image: str = "") -> str:
    """Return why AWS cannot run a request that has ARNs or images of the example account; empty if it has none.

    ``built_image``: an image whose registry is that of the role's account, so the spec does not contain it.
    """
    found = dict.fromkeys(each for each in _texts(request) if _ARN.match(each) or each.startswith(_REGISTRY))
    if not found:
        return ""
    names = ", ".join(f"`{each}`" for each in found if each != built_image) or f"`{built_image}`"
    return f"{EXAMPLE_ACCOUNT} is the account of examples; replace it with yours in the spec: {names}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
