"""A FIFO has one reader, but a launcher would start several."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM301", "pipe loop with distribution")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a launcher around the pipe loop, which runs once per host."""
    if isinstance(job.entry_point, PipeLoopEntry) and job.distribution is not None:
        yield RULE.at(
            ("distribution",),
            "`distribution` cannot be combined with `entry_point.pipe_loop`",
            help="remove `distribution`, or use a `script` with channels in FastFile mode",
            on="key",
        )
