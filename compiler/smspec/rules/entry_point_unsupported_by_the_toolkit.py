"""The toolkit of an existing image starts a script with the hyperparameters as arguments, and supports nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import ExistingImage, JobSpec, ScriptEntry

RULE = Rule("SM315", "entry point unsupported by the toolkit")

_HELP = "set `source.delivery: channel`"


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject what the toolkit of an existing image does not support: other entry points, arguments, or styles."""
    entry = job.entry_point
    if not isinstance(job.image, ExistingImage) or job.delivery != "s3" or entry is None:
        return
    if not isinstance(entry, ScriptEntry):
        yield RULE.at(("entry_point",), "`source.delivery: s3` requires `entry_point.script`", help=_HELP, on="key")
        return
    if entry.args:
        yield RULE.at(
            ("entry_point", "args"),
            "`entry_point.args` is not supported with `source.delivery: s3`",
            help=_HELP,
            on="key",
        )
    if entry.args_style != "toolkit":
        yield RULE.at(
            ("entry_point", "args_style"),
            "`entry_point.args_style` is not supported with `source.delivery: s3`",
            help=_HELP,
        )
