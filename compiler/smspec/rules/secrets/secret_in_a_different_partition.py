"""The credentials of a role are only valid in its partition."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.arns import parsed_arn
from smspec.service.secret_reference import secret_reference
from smspec.spec.model import JobSpec

RULE = Rule("SM614", "secret in a different partition")


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject a secret that is in a different partition than the role."""
    role = parsed_arn(job.role)
    for name, text in job.secrets.items():
        found = secret_reference(text)
        if role is not None and found is not None and found.partition != role.partition:
            yield RULE.at(
                ("secrets", name),
                f"`secrets.{name}` is in the partition `{found.partition}`, but the role is in `{role.partition}`",
                help=f"use a secret in the partition `{role.partition}`",
            )
