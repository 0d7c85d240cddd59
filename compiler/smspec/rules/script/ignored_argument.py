"""`parse_known_args` accepts undeclared arguments, and most scripts ignore the remaining ones."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word
from smspec.script.argument_fault import Fault
from smspec.script.program import bare
from smspec.script.script_environment import Argument

RULE = Rule("SM516", "ignored argument", "warning")

_ADDED = "model_dir"
"""The SageMaker SDK adds this hyperparameter to every TensorFlow job, whether or not the script reads it."""


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a hyperparameter that becomes an argument which the script neither declares nor reads."""
    lines = both.program.command_lines
    if not lines or not all(line.drops for line in lines):
        return
    names = [name for line in lines for option in line.options for name in option.names]
    for argument in both.environment.arguments or ():
        if argument.hyperparameter in (None, _ADDED) or _may_be_used(argument, names, both):
            continue
        fault = Fault(
            kind="unknown", command_line=lines[0], argument=argument, near=nearest(option_word(argument), names)
        )
        near = fault.near.lstrip("-") if fault.near is not None else None
        yield RULE.at(
            argument.path,
            f"`{both.name}` ignores `{option_word(argument)}`: "
            "`parse_known_args` accepts it, the script never reads it",
            label=f"did you mean `{near}`?" if near else "",
            help="rename the hyperparameter, declare the argument in the script, or remove the hyperparameter",
            on="key",
            notes=notes(fault),
        )


def _may_be_used(argument: Argument, names: list[str], both: ScriptAndJob) -> bool:
    word = option_word(argument)
    if not word.startswith("-") or bare(word) in both.program.mentioned:
        return True
    return any(name.startswith(word) or (len(word) == 2 and name[:2] == word) for name in names)
