"""PyTorch reads RANK and WORLD_SIZE from the environment, and only launchers set them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import one_of
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM530", "process group without a launcher", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a script that forms a process group in a job that sets no variables for it."""
    for group in both.program.process_groups[:1]:
        missing = [name for name in group.variables if name not in both.environment.variables]
        if both.environment.forms_groups or not missing:
            continue
        yield RULE.at(
            both.environment.program_path,
            f"`{both.name}` calls `init_process_group`, but the job sets no {one_of(missing)}",
            help="set `distribution: torchrun`, or set the variables in the script",
            notes=(Note("the script forms the group here", group.place),),
        )
