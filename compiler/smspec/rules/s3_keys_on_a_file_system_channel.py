"""A file system is mounted: nothing is listed, sharded, or shuffled."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec

RULE = Rule("SM324", "S3 keys on a file system channel")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject keys that apply only to S3 objects; the request has no member for them."""
    for channel in job.channels:
        if channel.file_system is None or channel.s3 is not None:
            continue
        for key, is_written in (
            ("s3_data_type", channel.s3_data_type != "S3Prefix"),
            ("attributes", bool(channel.attributes)),
            ("distribution", channel.distribution is not None),
            ("instance_groups", bool(channel.instance_groups)),
        ):
            if is_written:
                yield RULE.at(
                    ("channels", channel.name, key),
                    f"`channels.{channel.name}.{key}` cannot be combined with `file_system`",
                    help="remove the key",
                    on="key",
                )
