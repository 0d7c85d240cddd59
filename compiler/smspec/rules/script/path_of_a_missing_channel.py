"""Only channels of the job are below /opt/ml/input/data."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.program import ChannelRead

RULE = Rule("SM507", "path of a missing channel", "warning")


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a path, a job's channel by name, or a variable similar to that of a channel."""
    channels = both.environment.channels
    for read in both.program.channels:
        if _is_there(read, channels) or read.written in both.environment.variables:
            continue
        near = nearest(read.name, channels)
        if read.by == "variable" and (near is None or read.fails or _is_read(near, both)):
            continue  # a variable that may be missing usually is; one with a similar name is a typo
        what = {"path": f"`{read.written}`", "job": f"the channel `{read.name}`", "variable": f"`{read.written}`"}
        name = read.name if read.by != "variable" else read.name.lower()
        yield RULE.at(
            both.environment.channels_path,
            f"`{both.name}` reads {what[read.by]}, but the job has no channel `{name}`",
            label=f"did you mean `{near}`?" if near else "",
            help="add the channel, or change the script",
            on="key",
            notes=read_at(read.place),
        )


def _is_there(read: ChannelRead, channels: tuple[str, ...]) -> bool:
    if read.by == "variable":
        return read.name in {channel.upper() for channel in channels}
    # Next to the directory of a channel are its manifest and, in Pipe mode, the FIFOs of its epochs.
    return any(
        read.name == channel or (read.name.startswith((f"{channel}_", f"{channel}-")) and read.by == "path")
        for channel in channels
    )


def _is_read(channel: str, both: ScriptAndJob) -> bool:
    return any(read.name in (channel, channel.upper()) for read in both.program.channels)
