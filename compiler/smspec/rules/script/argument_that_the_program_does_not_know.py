"""A parser ends the program when it meets an argument that nobody declared."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, called, near_name, notes

RULE = Rule("SM501", "argument that the script does not declare")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Refuse arguments, and hyperparameters that become arguments, without a declaration in the program."""
    for fault in meeting.of_kind("unknown"):
        assert fault.argument is not None
        why = f": it {fault.reason}" if fault.reason else ""
        if fault.near == f"--{fault.argument.hyperparameter}":
            label = f"becomes `{called(fault.argument)}`"
            help = "a name of one letter gets one dash: declare it so in the program too, or use a longer name"
        else:
            label = near_name(fault)
            ends = f"{fault.command_line.library} ends a program that gets an argument it does not know"
            help = f"{ends}: declare it there, or leave it out"
        yield RULE.at(
            meeting.path_of(fault),
            f"`{meeting.name}` knows no argument `{called(fault.argument)}`{why}",
            label=label,
            help=help,
            on="key" if fault.argument.hyperparameter is not None else "value",
            notes=notes(fault),
        )
