"""A parser ends the script when a required argument is missing."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes

RULE = Rule("SM502", "missing argument of the script")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job that omits an argument that its script requires."""
    misspelled = {fault.near for fault in both.of_kind("unknown")}
    for fault in both.of_kind("missing"):
        if fault.option is not None and misspelled & set(fault.option.names):
            continue  # it is passed under a wrong name, which is reported
        if fault.option is None:
            message = f"`{both.name}` requires one of {fault.reason}, but the job sets none"
        else:
            message = f"`{both.name}` requires `{fault.option.called}`, but the job does not set it"
        is_positional = fault.option is not None and not fault.option.names
        yield RULE.at(
            both.environment.hyperparameters_path,
            message,
            help="add it to `entry_point.args`, or make it an option in the script"
            if is_positional
            else "add it to `hyperparameters`, or add a default in the script",
            on="key",
            notes=notes(fault),
        )
