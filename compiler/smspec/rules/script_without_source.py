"""A script is a file of the source directory."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry

RULE = Rule("SM307", "script without a source")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a script in a built image without source."""
    if isinstance(job.image, BuiltImage) and isinstance(job.entry_point, ScriptEntry) and job.source is None:
        yield RULE.at(
            ("entry_point", "script"),
            f"`entry_point.script` is `{job.entry_point.script}`, but `source` is not set",
            help="set `source`, or start a program of the image with `entry_point: {command: […]}`",
        )
