"""A variable has one value: a secret overwrites that of `environment`."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.spec.model import JobSpec

RULE = Rule("SM611", "variable set as secret and in environment")


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject a variable that is in both."""
    for name in job.secrets:
        if name in job.environment:
            yield RULE.at(
                ("secrets", name),
                f"`secrets.{name}` and `environment.{name}` set the same variable",
                help=f"remove `environment.{name}`",
                on="key",
            )
