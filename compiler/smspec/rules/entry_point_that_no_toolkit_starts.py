"""The toolkit of a ready image starts a script with the hyperparameters as arguments, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ReadyImage, ScriptEntry

RULE = Rule("SM315", "entry point unsupported by the toolkit")

_HELP = "`delivery: channel` brings our runtime, which can"


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse what cannot be said to the toolkit of a ready image: other entry points, arguments, their style."""
    entry = job.entry_point
    if not isinstance(job.image, ReadyImage) or job.delivery != "s3" or entry is None:
        return
    if not isinstance(entry, ScriptEntry):
        yield RULE.at(("entry_point",), "the image's own toolkit starts scripts only", help=_HELP, on="key")
        return
    if entry.args:
        yield RULE.at(("entry_point", "args"), "the image's own toolkit passes no `args`", help=_HELP, on="key")
    if entry.args_style != "toolkit":
        yield RULE.at(("entry_point", "args_style"), "the image's own toolkit has one style of arguments", help=_HELP)
