"""Rules about a script that does not match its job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.script import arguments, channels, starts
from smspec.rules.script.starts import ScriptAndJob
from smspec.script.grammars import faults_of
from smspec.script.program import Program, UnreadScript
from smspec.script.script_environment import ScriptEnvironment

RULES: tuple[Callable[[ScriptAndJob], Iterator[Finding]], ...] = (
    *arguments.RULES,
    *starts.RULES,
    *channels.RULES,
)


def script_findings(
    program: Program | UnreadScript, environment: ScriptEnvironment | UnreadScript | None
) -> list[Finding]:
    """Return the mismatches between a script and its job, or a note where one of the two is unknown."""
    if isinstance(program, UnreadScript):
        return [starts.finding_for(program)]
    if isinstance(environment, UnreadScript):
        return [starts.finding_for(environment)]
    if environment is None:
        return []
    both = ScriptAndJob(program=program, environment=environment, faults=tuple(faults_of(program, environment)))
    found = [finding for rule in RULES for finding in rule(both)]
    if environment.omitted or any(each.words[-1] in ("False", "false") for each in environment.arguments or ()):
        # Imported late: few jobs have such values.
        from smspec.rules.script.false_values import omitted_false, text_that_is_true

        found += [*omitted_false(both), *text_that_is_true(both)]
    return found
