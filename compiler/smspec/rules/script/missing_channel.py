"""SageMaker sets SM_CHANNEL_X for the channels of the job, and for no others."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, read_at

RULE = Rule("SM506", "missing channel of the script")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Reject a job without a channel whose variable the script requires."""
    channels = both.environment.channels
    known = {channel.upper() for channel in channels}
    for read in both.program.channels:
        if read.by != "variable" or not read.fails:
            continue
        if read.name in known or read.written in both.environment.variables:
            continue
        near = nearest(read.name, channels)
        yield RULE.at(
            both.environment.channels_path,
            f"`{both.name}` reads `{read.written}`, but the job has no channel `{read.name.lower()}`",
            label=f"did you mean `{near}`?" if near else "",
            help="add the channel, or change the script",
            on="key",
            notes=read_at(read.place),
        )
