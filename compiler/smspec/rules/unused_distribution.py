"""Whatever starts the script also starts its launcher."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import CommandEntry, ExistingImage, JobSpec

RULE = Rule("SM314", "unused distribution")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `distribution` in an existing image that starts itself."""
    if not isinstance(job.image, ExistingImage) or job.source is not None or job.distribution is None:
        return
    if job.entry_point is None or isinstance(job.entry_point, CommandEntry):
        yield RULE.at(
            ("distribution",),
            "`distribution` needs `source` when `image` names an existing image",
            help="set `source` and `entry_point`, or start the processes in `entry_point.command`",
            on="key",
        )
