"""A variable that neither SageMaker nor the spec sets is a KeyError, unless the image sets it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.script.meeting import Meeting, seen_at
from smspec.script.sagemaker_variables import is_set, meant

RULE = Rule("SM515", "unset SageMaker variable", "warning")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Warn of a variable `SM_…` that the script cannot do without, and that is like no other."""
    for read in meeting.program.variables:
        is_known = is_set(read.written) or read.written in meeting.surroundings.variables
        if not is_known and meant(read.written) is None:
            yield RULE.at(
                meeting.surroundings.program_path,
                f"`{meeting.name}` reads `{read.written}`, but neither SageMaker nor the spec sets it",
                help=f"set `{read.written}` in `environment`, or ignore SM515 if the image sets it",
                notes=seen_at(read.place),
            )
