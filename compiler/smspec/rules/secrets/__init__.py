"""Rules about secrets that the runtime fetches when the job starts: one file per rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.secrets import (
    isolated_job_that_fetches_secrets,
    malformed_secret_arn,
    missing_runtime_for_secrets,
    secret_for_a_reserved_variable,
    secret_in_a_different_partition,
    variable_set_as_secret_and_in_environment,
)
from smspec.spec.model import JobSpec

RULES: tuple[Callable[[JobSpec], Iterator[Finding]], ...] = (
    isolated_job_that_fetches_secrets.check,
    missing_runtime_for_secrets.check,
    variable_set_as_secret_and_in_environment.check,
    secret_for_a_reserved_variable.check,
    malformed_secret_arn.check,
    secret_in_a_different_partition.check,
)


def secret_findings(job: JobSpec) -> list[Finding]:
    """Return what keeps a job from getting its secrets."""
    return [finding for rule in RULES for finding in rule(job)]
