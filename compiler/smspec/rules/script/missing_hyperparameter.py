"""``job.hyperparameters`` and the variables SM_HP_… contain the keys of the spec; any other key is a KeyError."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, read_at

RULE = Rule("SM508", "missing hyperparameter of the script", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a hyperparameter that the script reads without checking that it is set."""
    known = both.environment.hyperparameters
    capitals = {name.upper() for name in known}
    for read in both.program.hyperparameters:
        is_variable = read.by == "variable"
        if read.name in (capitals if is_variable else known) or read.written in both.environment.variables:
            continue
        near = nearest(read.name, known)
        yield RULE.at(
            both.environment.hyperparameters_path,
            f"`{both.name}` reads `{read.written}`, but the job has no hyperparameter `{read.name.lower()}`"
            if is_variable
            else f"`{both.name}` reads the hyperparameter `{read.name}`, but the job does not set it",
            label=f"did you mean `{near}`?" if near else "",
            help="add it to `hyperparameters`, or read it with `.get`",
            on="key",
            notes=read_at(read.place),
        )
