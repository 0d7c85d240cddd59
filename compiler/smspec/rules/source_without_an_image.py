"""An algorithm resource or a serverless job runs its own code."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM309", "source without an image")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject code, and ways to start it, in a job without an image."""
    if job.image is not None:
        return
    for key, value in (("source", job.source), ("entry_point", job.entry_point), ("distribution", job.distribution)):
        if value is not None:
            yield RULE.at(
                (key,),
                f"`{key}` is set, but `image` is not",
                help="set `image`, or remove the key",
                on="key",
            )
