"""The runtime imports the module of a handler and looks up the name in it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob

RULE = Rule("SM511", "handler missing from its module")
MOST_NAMED = 3


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a function or class whose name does not occur in its module."""
    program = both.program
    if program.missing_handler is None:
        return
    few = program.definitions[:MOST_NAMED]
    has = f", such as {one_of(few)}" if few else ": it defines none"
    near = nearest(program.missing_handler, program.definitions)
    yield RULE.at(
        both.environment.program_path,
        f"`{both.name}` has no function or class `{program.missing_handler}`",
        label=f"did you mean `{near}`?" if near else "",
        help=f"use a function or class of the module{has}",
    )
