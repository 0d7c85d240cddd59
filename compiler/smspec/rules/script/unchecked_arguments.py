"""A script whose parser could not be followed has the same result as one that accepts everything, so it is noted."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM513", "unchecked arguments", "note")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Report where smspec could not follow what the script accepts, for a job that passes arguments to it."""
    stop = both.program.stop
    if stop is None or not both.environment.arguments:
        return
    words = "some arguments" if both.program.command_lines and "some" in stop.reason else "arguments"
    yield RULE.at(
        both.environment.program_path,
        f"smspec did not check {words} of `{both.name}`: {stop.reason}",
        notes=() if stop.place is None else (Note("the script reads its arguments here", stop.place),),
    )
