"""A script finds a channel through SM_CHANNEL_NAME, with the name in upper case: two channels can share a variable."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM375", "channels with the same variable")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject channels whose names differ only in case."""
    first: dict[str, str] = {}
    for channel in job.channels:
        other = first.setdefault(channel.name.upper(), channel.name)
        if other != channel.name:
            yield RULE.at(
                ("channels", channel.name),
                f"channels `{channel.name}` and `{other}` share the variable `SM_CHANNEL_{channel.name.upper()}`",
                help="rename one of them: the names must differ in more than case",
                on="key",
            )
