"""SageMaker and the smspec runtime set some variables themselves."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.spec.model import JobSpec

RULE = Rule("SM612", "secret for a reserved variable")

_PREFIXES = ("SM_", "SMSPEC_", "SAGEMAKER_", "TRAINING_JOB_", "AWS_CONTAINER_")
_NAMES = frozenset({"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "CURRENT_HOST", "PYTHONPATH"})


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject a secret with the name of such a variable; credentials for a different account are allowed."""
    for name in job.secrets:
        if name in _NAMES or name.startswith(_PREFIXES):
            yield RULE.at(
                ("secrets", name),
                f"`secrets.{name}` is a variable that SageMaker or the smspec runtime sets",
                help="rename the variable",
                on="key",
            )
