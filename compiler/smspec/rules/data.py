"""Rules about the local data of channels, which stands for the data in S3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from smspec.diagnostics import Finding, Rule
from smspec.service.facts import instance
from smspec.service.patterns import shown
from smspec.source import DataExtent, dotted
from smspec.spec.model import Channel, JobSpec

DATA_LARGER_THAN_THE_STORAGE = Rule("SM393", "data larger than the storage", "warning", evidence="devguide")

_GB = 1 << 30


def data_larger_than_the_storage(job: JobSpec, extents: Mapping[str, DataExtent]) -> Iterator[Finding]:
    """Warn about local data of File channels that does not fit on the volume, or on the local storage, of a host.

    In File mode, SageMaker downloads the data to the storage of each host before the job starts.
    """
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
        yield DATA_LARGER_THAN_THE_STORAGE.at(
            ("hosts", "instance_type"),
            f"`hosts.instance_type` has {capacity:,} GB of storage, but {has}",
            help=f"{other}, or a larger instance type",
        )
    else:
        yield DATA_LARGER_THAN_THE_STORAGE.at(
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


FEWER_OBJECTS_THAN_HOSTS = Rule("SM394", "fewer objects than hosts", "warning", evidence="api-doc")


def fewer_objects_than_hosts(job: JobSpec, extents: Mapping[str, DataExtent]) -> Iterator[Finding]:
    """Warn about a sharded channel whose local data has fewer files than hosts that share it.

    ShardedByS3Key gives each host whole objects, so with few of them some hosts get none.
    """
    for channel in job.channels:
        extent = extents.get(channel.name)
        if extent is None or channel.distribution != "ShardedByS3Key" or channel.s3_data_type != "S3Prefix":
            continue
        hosts = _hosts(job, channel)
        if 0 < extent.files < hosts:
            idle = hosts - extent.files
            files = f"{extent.files:,} file{'' if extent.files == 1 else 's'}"
            yield FEWER_OBJECTS_THAN_HOSTS.at(
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


ABSENT_LOCAL_DATA = Rule("SM832", "absent local data", "note")


def absent_local_data(job: JobSpec, extents: Mapping[str, DataExtent]) -> Iterator[Finding]:
    """Note local data that is not there: it is for `smspec run`, and often not in a checkout."""
    for channel in job.channels:
        extent = extents.get(channel.name)
        if extent is not None and extent.is_absent:
            at = ("channels", channel.name, "local")
            yield ABSENT_LOCAL_DATA.at(
                at,
                f"`{dotted(at)}`: `{shown(channel.local or '')}` does not exist, so `smspec run` has no data",
                help=f"add it, run with `--data {channel.name}=PATH`, or remove `local`",
            )


Extents = Mapping[str, DataExtent]
"""The name of a channel → the extent of its local data; without the channels whose extent is unknown."""

RULES: tuple[Callable[[JobSpec, Extents], Iterator[Finding]], ...] = (
    data_larger_than_the_storage,
    fewer_objects_than_hosts,
    absent_local_data,
)


def data_findings(job: JobSpec, extents: Extents) -> list[Finding]:
    """Return where the local data of a job does not fit its hosts, or is not there."""
    return [finding for rule in RULES for finding in rule(job, extents)]
