"""The source and the runtime use channels of their own, with reserved names."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM318", "reserved channel")

RESERVED = ("code", "sm_drivers", "smspec")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject the names of generated channels where the job has any."""
    if job.delivery != "channel":
        return
    for channel in job.channels:
        if channel.name in RESERVED:
            yield RULE.at(
                ("channels", channel.name),
                f"channel name `{channel.name}` is reserved with `source.delivery: channel`",
                help="rename the channel, or use a different `source.delivery`",
                on="key",
            )
