"""The data of the job in SageMaker: what is in S3, and what each host gets of it; and those of the run, to compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from smspec.local.channels.channel_data import ChannelData
from smspec.local.feeder.entries import ChannelObjects
from smspec.local.feeder.objects import ChannelDataError
from smspec.local.prediction.limits import HostLimits
from smspec.local.running.training_request import Host, TrainingChannel
from smspec.local.s3 import is_s3
from smspec.source import DataExtent
from smspec.source.frozen import dataclass

MODES = ("File", "FastFile", "Pipe")


@dataclass(frozen=True, slots=True)
class Share:
    """What a host gets of a channel. ``objects`` None: their number is unknown."""

    bytes: int
    objects: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChannel:
    """A channel with data in S3: ``size`` bytes in ``objects``, if their number is known.

    ``is_estimated``: the number of objects follows from the size of those of the run.
    """

    channel: TrainingChannel
    size: int
    objects: int | None
    is_estimated: bool = False

    @property
    def name(self) -> str:
        return self.channel.name

    @property
    def is_sharded(self) -> bool:
        return self.channel.distribution == "ShardedByS3Key"

    def shares(self, hosts: tuple[Host, ...]) -> dict[str, Share]:
        """Return host → its share, for the hosts that get the channel."""
        members = self.channel.hosts(hosts)
        if not self.is_sharded:
            return {host.name: Share(self.size, self.objects) for host in members}
        dealt = shares(self.size, self.objects, len(members))
        return {host.name: share for host, share in zip(members, dealt, strict=True)}

    def obstacle(self, mode: str) -> str:
        """Return why SageMaker rejects the channel in an input mode; empty if it does not."""
        if mode != "Pipe" and self.channel.compression == "Gzip":
            return f"`{self.name}` is compressed with Gzip, which requires Pipe mode"
        if mode != "Pipe" and self.channel.s3_data_type == "AugmentedManifestFile":
            return f"`{self.name}` is an AugmentedManifestFile, which requires Pipe mode"
        if mode == "FastFile" and self.channel.s3_data_type == "ManifestFile":
            return f"`{self.name}` is a ManifestFile, which FastFile mode does not support"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobData:
    """The channels of the job with data in S3, its hosts, and the limits of each instance type.

    ``readers``: the processes that would share a FIFO on each host, if the job may start several there.
    """

    channels: tuple[JobChannel, ...]
    hosts: tuple[Host, ...]
    limits: dict[str, HostLimits]
    readers: str = ""

    def of_hosts(self) -> dict[str, dict[str, Share]]:
        """Return host → channel → share."""
        found: dict[str, dict[str, Share]] = {host.name: {} for host in self.hosts}
        for channel in self.channels:
            for host, share in channel.shares(self.hosts).items():
                found[host][channel.name] = share
        return found


def shares(size: int, objects: int | None, count: int) -> list[Share]:
    """Return the shares of ``count`` hosts, which together are the whole. SageMaker deals out whole objects.

    All objects count as equally large; without their number, every host gets the same.
    """
    if not count:
        return []
    if objects is None:
        ends = [size * number // count for number in range(count + 1)]
        return [Share(end - begin, None) for begin, end in itertools.pairwise(ends)]
    dealt = [objects // count + (number < objects % count) for number in range(count)]
    found, passed = [], 0
    for number in dealt:
        begin, passed = passed, passed + number
        found.append(Share(size * passed // max(objects, 1) - size * begin // max(objects, 1), number))
    return found


def extents_of_run(channels: Iterable[ChannelData]) -> dict[str, DataExtent]:
    """Return channel → the extent of its data in the run, as far as it is known without reading objects.

    Of S3, only the data of the spec are listed: those of a different place say nothing about the job.
    """
    found: dict[str, DataExtent] = {}
    for data in channels:
        if is_s3(data.source) and not is_of_spec(data):
            continue
        try:
            entries = data.entries(data.store())
        except (ChannelDataError, OSError):
            continue  # they have changed since the run began
        if isinstance(entries, ChannelObjects):
            size = entries.size(range(len(entries)))
            if size is not None:
                found[data.channel.name] = DataExtent(files=len(entries), bytes=size)
    return found


def is_of_spec(data: ChannelData) -> bool:
    """Return whether a run reads the very data that the job reads."""
    return data.source == data.channel.uri
