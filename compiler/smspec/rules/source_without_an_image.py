"""An algorithm resource, and a serverless job, run their own code."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM309", "source without an image")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse code, and ways to start it, in a job that names no image."""
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
