"""A command that is given to an image gets the words that are written, and no more."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import CommandEntry, JobSpec, ReadyImage

RULE = Rule("SM317", "unused arguments style")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse `args_style` where no runtime of ours turns hyperparameters into arguments."""
    entry = job.entry_point
    if not isinstance(job.image, ReadyImage) or job.source is not None or not isinstance(entry, CommandEntry):
        return
    if entry.args_style != "none":
        yield RULE.at(
            ("entry_point", "args_style"),
            "`entry_point.args_style` needs `source` when `image` names an existing image",
            help="set `source`, or add the arguments to `entry_point.command`",
        )
