"""A malformed secret is not sent, because it may be the secret itself, so the request does not show it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding
from smspec.service.request_rules.secret_references import MALFORMED_SECRET_ARN as RULE
from smspec.service.request_rules.secret_references import check_secrets
from smspec.spec.model import JobSpec

__all__ = ["RULE", "check"]


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject what is not the ARN of a secret or parameter."""
    return check_secrets(job.secrets, ("secrets",))
