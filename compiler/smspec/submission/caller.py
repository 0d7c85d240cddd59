"""Who calls AWS: the account of the credentials, which no file of the repository contains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import AwsUnavailable
from smspec.submission.client import asked
from smspec.wire.aws import AwsSession


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
