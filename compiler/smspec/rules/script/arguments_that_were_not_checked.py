"""A script whose parser was lost sight of has the same result as one that takes everything: so it is noted."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.script.meeting import Meeting

RULE = Rule("SM513", "unchecked arguments", "note")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Report where smspec stopped to follow what the script takes, of a job that gives it arguments."""
    stop = meeting.program.stop
    if stop is None or not meeting.surroundings.arguments:
        return
    words = "some arguments" if meeting.program.command_lines and "some" in stop.reason else "arguments"
    yield RULE.at(
        meeting.surroundings.program_path,
        f"smspec did not check {words} of `{meeting.name}`: {stop.reason}",
        notes=() if stop.place is None else (Note("the script reads its arguments here", stop.place),),
    )
