"""A variable that SageMaker does not set is a KeyError; one similar to a known name is a typo."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.sagemaker_variables import is_set, near_variable

RULE = Rule("SM514", "misspelled SageMaker variable")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a variable that the script requires and whose name is similar to one that is set."""
    for read in (*both.program.variables, *both.program.other_variables):
        near = near_variable(read.written)
        if is_set(read.written) or read.written in both.environment.variables or near is None:
            continue
        yield RULE.at(
            both.environment.program_path,
            f"`{both.name}` reads `{read.written}`, but SageMaker sets no such variable",
            label=f"did you mean `{near}`?",
            help=f"read `{near}` in the script, or set `{read.written}` in `environment`",
            notes=read_at(read.place),
        )
