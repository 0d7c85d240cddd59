"""The SageMaker client, with its errors as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smspec.submission.aws_errors import (
    DENIED,
    INVALID_CREDENTIALS,
    ActionDenied,
    AwsUnavailable,
    JobRefused,
    denied_action,
    unavailable,
)
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

_NO_SUCH_JOB = ("ValidationException", "ResourceNotFound")


def sagemaker_client(profile: str | None, region: str | None) -> Any:
    """Return a client configured as the AWS CLI does it; an option wins over environment and profile."""
    with asked("SageMaker"):
        return AwsSession(profile, region).client("sagemaker")


def has_credentials(profile: str | None) -> bool:
    """Return whether AWS can be called at all. Raise `AwsUnavailable`, as for a profile that does not exist."""
    with asked("credentials"):
        return AwsSession(profile).has_credentials()


@contextmanager
def asked(what: str, action: str = "") -> Iterator[None]:
    """Convert what boto3 raises while it requests ``what`` to `JobRefused` or `AwsUnavailable`.

    ``action``: the call's name in an IAM policy, for `ActionDenied`.
    """
    try:
        with responses(f"ask AWS for {what}"):
            yield
    except Unsendable as fault:
        raise JobRefused(f"{what}: {fault}") from None
    except AwsRefused as refusal:
        if refusal.code in _NO_SUCH_JOB:
            raise JobRefused(f"{what}: {refusal.message}") from None
        if action and refusal.code in DENIED:
            raise (denied_action(refusal.message) or ActionDenied(action, "")) from None
        if refusal.code in INVALID_CREDENTIALS:
            raise unavailable(f"ask AWS for {what}", refusal.code, refusal.message, action) from None
        raise AwsUnavailable(f"AWS rejects the request for {what}: {refusal}") from None
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None
