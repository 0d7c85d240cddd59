"""The data of a run as SageMaker counts them: objects and their bytes, and what each host got."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smspec.local.channels.channel_data import ChannelData
from smspec.local.feeder.entries import ChannelObjects, order
from smspec.local.feeder.objects import ChannelDataError
from smspec.local.running.training_request import Host
from smspec.local.s3 import is_s3
from smspec.source.listing import DataExtent


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalData:
    """``extents``: channel → its objects. ``sizes``: (host, channel) → the bytes of those that the host got."""

    extents: dict[str, DataExtent]
    sizes: dict[tuple[str, str], int]


def local_data(channels: Iterable[ChannelData], hosts: tuple[Host, ...]) -> LocalData:
    """Return the extent of each channel, as far as it is known without reading objects.

    Of S3, only the data of the spec are listed: those of a different place say nothing about the job.
    """
    extents: dict[str, DataExtent] = {}
    sizes: dict[tuple[str, str], int] = {}
    for data in channels:
        if is_s3(data.source) and not is_of_spec(data):
            continue
        try:
            entries = data.entries(data.store())
        except (ChannelDataError, OSError):
            continue  # they have changed since the run began
        if not isinstance(entries, ChannelObjects):
            continue
        whole = entries.size(range(len(entries)))
        if whole is None:
            continue
        extents[data.channel.name] = DataExtent(files=len(entries), bytes=whole)
        for host in data.channel.hosts(hosts):
            channel = data.feeder_channel(host, hosts)
            chosen = order(len(entries), channel.shuffle_seed, 0, channel.shard, channel.shards)
            sizes[host.name, data.channel.name] = entries.size(chosen) or 0
    return LocalData(extents=extents, sizes=sizes)


def is_of_spec(data: ChannelData) -> bool:
    """Return whether a run reads the very data that the job reads."""
    return data.source == data.channel.uri
