"""A script that reads `key=value` pairs takes an option for a key without a value, and its value for another key."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word

RULE = Rule("SM531", "option for a script of key=value pairs", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about the first hyperparameter that becomes an option, if the script reads only pairs."""
    if len(both.program.command_lines) != 1:
        return
    for fault in both.of_kind("pair"):
        assert fault.argument is not None
        first, value = option_word(fault.argument), fault.argument.words[1]
        yield RULE.at(
            both.path_of(fault),
            f"`{first}` has no effect: `{both.name}` reads `key=value` pairs with OmegaConf",
            help=f"set `args_style: none`, and add `{first.lstrip('-')}={value}` to `args` of the entry point",
            on="key" if fault.argument.hyperparameter is not None else "value",
            notes=notes(fault),
        )
        return
