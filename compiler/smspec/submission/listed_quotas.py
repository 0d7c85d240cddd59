"""The quotas of an account for training jobs in a region, from Service Quotas."""

from __future__ import annotations

import re
from typing import Any

from smspec.service.policy import is_about_training
from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import AwsUnavailable
from smspec.submission.aws_listing import client_of, listed
from smspec.wire.aws import AwsSession

APPLIED = "servicequotas:ListServiceQuotas"
DEFAULTS = "servicequotas:ListAWSDefaultServiceQuotas"

_ARN = r"arn:[a-z0-9-]+:servicequotas:[a-z0-9-]+:([0-9]{12}):.*"
_HIGHEST = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuotas:
    """``training``: name of a quota → value. ``left_out``: quotas for training without a usable value."""

    account: str
    training: dict[str, int]
    left_out: int


def listed_quotas(session: AwsSession, region: str) -> ListedQuotas:
    """Return the quotas of the account of the credentials in a region. Raise `AwsUnavailable`."""
    client = client_of(session, "service-quotas", region)
    what = f"the quotas in {region}"
    # Without a value of the account, the default applies, and only the second call lists it.
    applied = listed(what, APPLIED, "Quotas", lambda **token: client.list_service_quotas(**_all(token)))
    own = [quota for quota in applied if isinstance(quota, dict)]
    accounts = {found[1] for quota in own if (found := re.fullmatch(_ARN, str(quota.get("QuotaArn"))))}
    if len(accounts) != 1:
        raise AwsUnavailable(f"the response of Service Quotas in {region} does not name the account")
    defaults = listed(what, DEFAULTS, "Quotas", lambda **token: client.list_aws_default_service_quotas(**_all(token)))
    training: dict[str, int] = {}
    left_out: set[str] = set()
    for quota in (*(quota for quota in defaults if isinstance(quota, dict)), *own):
        name, value = str(quota.get("QuotaName")), _value(quota)
        if is_about_training(name) and value is None:
            left_out.add(name)
        elif is_about_training(name) and value is not None:
            training[name] = value
    if not training:
        raise AwsUnavailable(f"Service Quotas lists no quota for training jobs in {region}")
    for name in left_out:
        training.pop(name, None)
    return ListedQuotas(account=accounts.pop(), training=training, left_out=len(left_out))


def _all(token: dict[str, str]) -> dict[str, Any]:
    return {"ServiceCode": "sagemaker", "MaxResults": 100, **token}


def _value(quota: dict[str, Any]) -> int | None:
    value = quota.get("Value")
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _HIGHEST:
        return None
    return int(value) if value == int(value) else None
