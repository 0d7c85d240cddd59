"""In File mode, SageMaker downloads the data to the storage of each host before the job starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.diagnostics import Finding, Rule
from smspec.service.facts.instances import instance
from smspec.source.data_extent import DataExtent
from smspec.spec.model import Channel, JobSpec

RULE = Rule("SM393", "data larger than the storage", "warning", evidence="devguide")

_GB = 1 << 30


def check(job: JobSpec, extents: Mapping[str, DataExtent]) -> Iterator[Finding]:
    """Warn about local data of File channels that does not fit on the volume, or on the local storage, of a host."""
    hosts = job.hosts
    if hosts is None or hosts.groups or hosts.instance_type is None:
        return
    facts = instance(hosts.instance_type)
    if facts is None or facts.nvme_gb is None:
        return
    capacity = facts.nvme_gb or hosts.volume
    copied = [channel for channel in job.channels if _is_copied(job, channel, extents)]
    size = sum(_share(channel, extents[channel.name], hosts.total) for channel in copied)
    if not capacity or size <= capacity * _GB:
        return
    has = f"the local data of File channels has {size / _GB:,.1f} GB for each host"
    other = "use FastFile mode, which downloads nothing in advance"
    if facts.nvme_gb:
        yield RULE.at(
            ("hosts", "instance_type"),
            f"`hosts.instance_type` has {capacity:,} GB of storage, but {has}",
            help=f"{other}, or a larger instance type",
        )
    else:
        yield RULE.at(
            ("hosts", "volume"),
            f"`hosts.volume` is {capacity:,}GB, but {has}",
            help=f"set it to more than {-(-size // _GB):,}GB, or {other}",
        )


def _is_copied(job: JobSpec, channel: Channel, extents: Mapping[str, DataExtent]) -> bool:
    """Return whether SageMaker copies all data of a channel with a known extent; a manifest may list a part."""
    return (
        channel.name in extents
        and channel.s3 is not None
        and channel.s3_data_type == "S3Prefix"
        and job.mode_of(channel) == "File"
    )


def _share(channel: Channel, extent: DataExtent, hosts: int) -> int:
    """Return the bytes that some host gets at least."""
    return extent.bytes // hosts if channel.distribution == "ShardedByS3Key" else extent.bytes
