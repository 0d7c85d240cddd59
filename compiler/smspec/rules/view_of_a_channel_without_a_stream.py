"""Only a Pipe channel is a stream."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM322", "view of a channel without a stream")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a view of a channel in File or FastFile mode."""
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    # Where no channel is a stream, the pipe loop itself is reported.
    if all(job.mode_of(channel) != "Pipe" for channel in job.channels):
        return
    for channel in job.channels:
        if channel.name in job.entry_point.read and job.mode_of(channel) != "Pipe":
            yield RULE.at(
                ("entry_point", "read", channel.name),
                f"`entry_point.read.{channel.name}` requires Pipe mode, but the mode is {job.mode_of(channel)}",
                help="set `input_mode: Pipe` for the channel, or remove it from `entry_point.read`",
                on="key",
            )
