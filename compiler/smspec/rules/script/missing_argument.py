"""A parser ends the program when a required argument is not there."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, notes

RULE = Rule("SM502", "missing argument of the script")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Refuse a job that leaves out what its program requires."""
    meant = {fault.near for fault in meeting.of_kind("unknown")}
    for fault in meeting.of_kind("missing"):
        if fault.option is not None and meant & set(fault.option.names):
            continue  # it is there under a wrong name, and this is told
        if fault.option is None:
            message = f"`{meeting.name}` requires one of {fault.reason}, and nothing gives it"
        else:
            message = f"`{meeting.name}` requires the argument `{fault.option.called}`, and nothing gives it"
        is_positional = fault.option is not None and not fault.option.names
        yield RULE.at(
            meeting.surroundings.hyperparameters_path,
            message,
            help="write it under `args` of the entry point, or give it a name in the program"
            if is_positional
            else "write it under `hyperparameters`, or give it a default in the program",
            on="key",
            notes=notes(fault),
        )
