"""A FIFO has one reader, and a launcher would start many."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM301", "pipe loop with distribution")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse a launcher around the pipe loop, which runs once per host."""
    if isinstance(job.entry_point, PipeLoopEntry) and job.distribution is not None:
        yield RULE.at(
            ("distribution",),
            "the pipe loop is one process per host; a launcher would start several readers of one FIFO",
            help="leave `distribution` out, or read the channels in FastFile mode from a `script`",
            on="key",
        )
