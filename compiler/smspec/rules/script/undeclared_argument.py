"""A parser ends the script when it meets an undeclared argument."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, near_name, notes, option_word

RULE = Rule("SM501", "argument that the script does not declare")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject arguments, and hyperparameters that become arguments, that the script does not declare."""
    for fault in both.of_kind("unknown"):
        assert fault.argument is not None
        why = f": it {fault.reason}" if fault.reason else ""
        if fault.near == f"--{fault.argument.hyperparameter}":
            label = f"becomes `{option_word(fault.argument)}`"
            help = f"declare `{option_word(fault.argument)}` in the script, or use a longer name"
        else:
            label = near_name(fault)
            what = "hyperparameter" if fault.argument.hyperparameter is not None else "argument"
            help = f"declare it in the script, or remove the {what}; {fault.command_line.library} exits with status 2"
        if fault.command_line.library == "hydra":
            pair = "=".join((option_word(fault.argument).lstrip("-"), *fault.argument.words[1:]))
            label, help = (
                "",
                f"set `args_style: none`, and add `{pair}` to `args` of the entry point: Hydra reads overrides",
            )
        yield RULE.at(
            both.path_of(fault),
            f"`{both.name}` has no argument `{option_word(fault.argument)}`{why}",
            label=label,
            help=help,
            on="key" if fault.argument.hyperparameter is not None else "value",
            notes=notes(fault),
        )
