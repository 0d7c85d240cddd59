"""The author's environment variables that containers get: how to reach AWS, or a server for tests in its place."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_MAX_ATTEMPTS",
    "AWS_RETRY_MODE",
)
"""Others name files and profiles, which an image does not have."""

_ENDPOINT = "AWS_ENDPOINT_URL"


def author_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return variables of smspec's environment for a job."""
    return {
        name: value for name, value in inherited.items() if value and (name in _NAMES or name.startswith(_ENDPOINT))
    }
