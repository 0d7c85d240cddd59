"""A command that is passed to an image gets only the words that are written."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import CommandEntry, ExistingImage, JobSpec

RULE = Rule("SM317", "unused arguments style")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `args_style` where the smspec runtime does not convert hyperparameters to arguments."""
    entry = job.entry_point
    if not isinstance(job.image, ExistingImage) or job.source is not None or not isinstance(entry, CommandEntry):
        return
    if entry.args_style != "none":
        yield RULE.at(
            ("entry_point", "args_style"),
            "`entry_point.args_style` needs `source` when `image` names an existing image",
            help="set `source`, or add the arguments to `entry_point.command`",
        )
