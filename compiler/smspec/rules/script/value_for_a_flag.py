"""A flag stands alone; a value behind it is one argument too many."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, called, notes

RULE = Rule("SM504", "value for a flag of the script")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Refuse a value for what the program declares as a flag, such as `store_true`."""
    for fault in meeting.of_kind("alone"):
        assert fault.argument is not None
        is_truth = isinstance(fault.argument.value, bool)
        yield RULE.at(
            meeting.path_of(fault),
            f"`{called(fault.argument)}` of `{meeting.name}` is a flag: it takes no value, and gets"
            f" `{' '.join(fault.argument.words[1:])}`",
            help="with `args_style: flags` true is the flag alone, and false leaves it out"
            if is_truth
            else "let the program take a value, or leave the hyperparameter out",
            notes=notes(fault),
        )
