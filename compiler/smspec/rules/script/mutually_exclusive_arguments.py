"""Only one argument of a mutually exclusive group can be passed."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes

RULE = Rule("SM509", "mutually exclusive arguments")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject two arguments of which the script accepts one."""
    for fault in both.of_kind("clash"):
        yield RULE.at(
            both.path_of(fault),
            f"`{both.name}` accepts only one of {fault.reason}, but the job sets both",
            help="remove one of them",
            on="key",
            notes=notes(fault),
        )
