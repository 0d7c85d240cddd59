"""torchrun starts only Python programs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, ScriptEntry, Torchrun

RULE = Rule("SM313", "torchrun with a shell script")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject torchrun with anything except a Python script."""
    entry = job.entry_point
    if isinstance(job.distribution, Torchrun) and isinstance(entry, ScriptEntry) and not entry.script.endswith(".py"):
        yield RULE.at(
            ("entry_point", "script"),
            f"`distribution` is `torchrun`, but `{entry.script}` is not a Python script",
            help="use a `.py` file, or remove `distribution` and call torchrun in the script",
        )
