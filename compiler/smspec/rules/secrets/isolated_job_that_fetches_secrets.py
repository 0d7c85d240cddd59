"""A container in network isolation cannot reach Secrets Manager or Parameter Store."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.spec.isolation import isolation_path
from smspec.spec.model import JobSpec
from smspec.spec.starter import starter

RULE = Rule("SM609", "isolated job that fetches secrets")


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject network isolation where the runtime would fetch secrets."""
    path = isolation_path(job)
    if path is not None and job.secrets and starter(job) == "runtime":
        yield RULE.at(
            path,
            "`secrets` cannot be fetched with `network.isolation: true`",
            help="remove `network.isolation`, and limit the network with security groups, or remove `secrets`",
        )
