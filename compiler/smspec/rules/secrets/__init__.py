"""Rules about secrets that the runtime fetches when the job starts, where a request does not show the fault.

One file per rule. Those about the request are in `smspec.service.request_rules.secret_references`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.secrets import (
    malformed_secret_arn,
    missing_runtime_for_secrets,
)
from smspec.spec.model import JobSpec

RULES: tuple[Callable[[JobSpec], Iterator[Finding]], ...] = (
    missing_runtime_for_secrets.check,
    malformed_secret_arn.check,
)


def secret_findings(job: JobSpec) -> list[Finding]:
    """Return what keeps a job from getting its secrets."""
    return [finding for rule in RULES for finding in rule(job)]
