"""`read` sets how channels are read."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.fix import spelling_fix
from smspec.diagnostics.suggestions import nearest
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM321", "view of an unknown channel")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a view of a channel that the job does not have."""
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    names = [channel.name for channel in job.channels]
    for name in job.entry_point.read:
        if name not in names:
            near = nearest(name, names)
            yield RULE.at(
                ("entry_point", "read", name),
                f"`entry_point.read` names the unknown channel `{name}`",
                label=f"did you mean `{near}`?" if near else "",
                on="key",
                fix=spelling_fix(name, names),
            )
