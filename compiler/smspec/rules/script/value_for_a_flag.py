"""A flag has no value; a value after it is one argument too many."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word

RULE = Rule("SM504", "value for a flag of the script")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a value for what the script declares as a flag, such as `store_true`."""
    for fault in both.of_kind("alone"):
        assert fault.argument is not None
        is_truth = isinstance(fault.argument.value, bool)
        yield RULE.at(
            both.path_of(fault),
            f"`{option_word(fault.argument)}` of `{both.name}` is a flag without a value, but the job passes"
            f" `{' '.join(fault.argument.words[1:])}`",
            help="set `args_style: flags`, which passes true as the flag and omits false"
            if is_truth
            else "remove the hyperparameter, or declare an option with a value in the script",
            notes=notes(fault),
        )
