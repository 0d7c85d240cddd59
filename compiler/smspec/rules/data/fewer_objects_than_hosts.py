"""ShardedByS3Key gives each host whole objects, so with few of them some hosts get none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.diagnostics import Finding, Rule
from smspec.source.data_extent import DataExtent
from smspec.spec.model import Channel, JobSpec

RULE = Rule("SM394", "fewer objects than hosts", "warning", evidence="api-doc")


def check(job: JobSpec, extents: Mapping[str, DataExtent]) -> Iterator[Finding]:
    """Warn about a sharded channel whose local data has fewer files than hosts that share it."""
    for channel in job.channels:
        extent = extents.get(channel.name)
        if extent is None or channel.distribution != "ShardedByS3Key" or channel.s3_data_type != "S3Prefix":
            continue
        hosts = _hosts(job, channel)
        if 0 < extent.files < hosts:
            idle = hosts - extent.files
            files = f"{extent.files:,} file{'' if extent.files == 1 else 's'}"
            yield RULE.at(
                ("channels", channel.name, "distribution"),
                f"`channels.{channel.name}.local` has {files} for {hosts:,} hosts: {idle:,} of them would get no data",
                help="use fewer hosts or more objects; if `local` is only a sample, add SM394 to `checks.ignore`",
            )


def _hosts(job: JobSpec, channel: Channel) -> int:
    """Return the number of hosts that get a channel."""
    if job.hosts is None:
        return 0
    if not channel.instance_groups:
        return job.hosts.total
    return sum(group.count for group in job.hosts.groups if group.name in channel.instance_groups)
