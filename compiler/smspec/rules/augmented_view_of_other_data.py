"""The `augmented` view combines records with attribute names, so it needs both."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM325", "augmented view of other data")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject the view `augmented` of anything except an augmented manifest in RecordIO."""
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    for channel in job.channels:
        if job.entry_point.read.get(channel.name) != "augmented":
            continue
        lacks_names = channel.s3_data_type != "AugmentedManifestFile"
        if lacks_names or channel.record_wrapper != "RecordIO":
            wanted = "s3_data_type: AugmentedManifestFile" if lacks_names else "record_wrapper: RecordIO"
            yield RULE.at(
                ("entry_point", "read", channel.name),
                f"`entry_point.read.{channel.name}` is `augmented`, but the channel is not an augmented manifest",
                help=f"add `{wanted}` to `channels.{channel.name}`",
            )
