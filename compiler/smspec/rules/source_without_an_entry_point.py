"""Source without anything that starts it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import ExistingImage, JobSpec

RULE = Rule("SM308", "source without an entry point")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject an existing image that gets source but no entry point."""
    if isinstance(job.image, ExistingImage) and job.source is not None and job.entry_point is None:
        yield RULE.at(
            ("source",),
            "`source` is set, but `entry_point` is not",
            help="set `entry_point`, or remove `source`",
            on="key",
        )
