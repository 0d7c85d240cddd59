"""Without source to deliver, the smspec runtime cannot be added to an existing image."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import CommandEntry, ExistingImage, JobSpec

RULE = Rule("SM306", "entry point unavailable in an existing image")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject anything except a command in an existing image without source."""
    if not isinstance(job.image, ExistingImage) or job.source is not None:
        return
    if job.entry_point is None or isinstance(job.entry_point, CommandEntry):
        return
    yield RULE.at(
        ("entry_point",),
        "`entry_point` needs `source` when `image` names an existing image",
        help="set `source`, or use `entry_point: {command: […]}`",
        on="key",
    )
