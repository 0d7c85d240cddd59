"""The pipe loop passes the streams of the Pipe channels to its handler."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM323", "pipe loop without a Pipe channel")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a pipe loop in a job without Pipe channels."""
    if isinstance(job.entry_point, PipeLoopEntry) and not any(
        job.mode_of(channel) == "Pipe" for channel in job.channels
    ):
        yield RULE.at(
            ("entry_point", "pipe_loop"),
            "`entry_point.pipe_loop` needs a channel in Pipe mode",
            help="set `input_mode: Pipe`, or use `entry_point.script`",
        )
