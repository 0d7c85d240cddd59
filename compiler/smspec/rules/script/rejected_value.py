"""A parser ends the script when a value does not have its type or is not one of its choices."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, notes, option_word
from smspec.script.argument_fault import Fault
from smspec.script.script_environment import Argument

RULE = Rule("SM503", "value that the script rejects")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject values of a different type, and those that are not among the choices."""
    for fault in both.of_kind("refused"):
        assert fault.argument is not None
        words = " ".join(fault.argument.words[1:])
        yield RULE.at(
            both.path_of(fault),
            f"`{both.name}` rejects `{option_word(fault.argument)}`"
            + (f": {fault.reason}" if fault.reason else f" with the value `{words}`" if words else " without a value"),
            label=_near_choice(fault),
            help=_help(fault.argument, fault),
            notes=notes(fault),
        )


def _help(argument: Argument, fault: Fault) -> str:
    """Return the remedy: a structure that the script parses needs the style that preserves it."""
    if fault.option is not None and fault.option.kind == "json" and not isinstance(argument.value, str):
        return f"set `args_style: json` in `entry_point`: the script gets `{' '.join(argument.words)}`"
    return f"change the value, or the type in the script, which gets `{' '.join(argument.words)}`"


def _near_choice(fault: Fault) -> str:
    """Return the label that suggests a choice similar to the one wrong value."""
    words = fault.argument.words[1:] if fault.argument is not None else ()
    choices = fault.option.choices if fault.option is not None else None
    near = nearest(words[0], map(str, choices)) if choices and len(words) == 1 else None
    return f"did you mean `{near}`?" if near is not None else ""
