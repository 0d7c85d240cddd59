"""SageMaker sets SM_CHANNEL_X for the channels of the job, and for no others."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.meeting import Meeting, seen_at

RULE = Rule("SM506", "missing channel of the script")


def check(meeting: Meeting) -> Iterator[Finding]:
    """Refuse a job without a channel whose variable the program cannot do without."""
    channels = meeting.surroundings.channels
    known = {channel.upper() for channel in channels}
    for read in meeting.program.channels:
        if read.by != "variable" or not read.fails:
            continue
        if read.name in known or read.written in meeting.surroundings.variables:
            continue
        near = nearest(read.name, channels)
        yield RULE.at(
            meeting.surroundings.channels_path,
            f"`{meeting.name}` reads `{read.written}`, but the job has no channel `{read.name.lower()}`",
            label=f"did you mean `{near}`?" if near else "",
            help="add the channel, or change the script",
            on="key",
            notes=seen_at(read.place),
        )
