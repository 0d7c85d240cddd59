"""The ARN of a secret in Secrets Manager, or of a parameter in Parameter Store, as the smspec runtime accepts it.

A name would be enough in its own region. An ARN also contains region, account, and partition, so it can be checked,
makes an exact policy, and shows in a diff that a secret is in a different account.
"""

from __future__ import annotations

import re
from functools import lru_cache

from smspec.source.frozen import dataclass
from smspec_runtime.run_plan import SECRET_ARN


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReference:
    """``arn`` is without the field or version after it. ``is_secret``: it is in Secrets Manager."""

    arn: str
    partition: str
    region: str
    account: str
    name: str
    is_secret: bool


@lru_cache(maxsize=1024)  # the jobs of a repository share their secrets
def secret_reference(text: str) -> SecretReference | None:
    """Parse an ARN; None if it is not one of a secret or a parameter."""
    found = re.fullmatch(SECRET_ARN, text)
    if found is None:
        return None
    return SecretReference(
        arn=found["arn"],
        partition=found["partition"],
        region=found["region"],
        account=found["account"],
        name=found["name"],
        is_secret=found["is_secret"] is not None,
    )
