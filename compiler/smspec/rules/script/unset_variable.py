"""A variable that neither SageMaker nor the spec sets is a KeyError, unless the image sets it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.sagemaker_variables import is_set, near_variable

RULE = Rule("SM515", "unset SageMaker variable", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable `SM_…` that the script requires and whose name is not similar to a known one."""
    for read in both.program.variables:
        is_known = is_set(read.written) or read.written in both.environment.variables
        if not is_known and near_variable(read.written) is None:
            yield RULE.at(
                both.environment.program_path,
                f"`{both.name}` reads `{read.written}`, but neither SageMaker nor the spec sets it",
                help=f"set `{read.written}` in `environment`, or ignore SM515 if the image sets it",
                notes=read_at(read.place),
            )
