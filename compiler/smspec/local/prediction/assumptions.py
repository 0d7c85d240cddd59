"""What a prediction assumes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.local.prediction.host_limits import HostLimits
from smspec.local.prediction.job_data import JobChannel, JobData
from smspec.local.prediction.local_data import LocalData
from smspec.local.prediction.prediction import figure, rates
from smspec.local.prediction.reading import Reading
from smspec.local.prediction.s3_service import Interval, S3Service
from smspec.local.record.units import size
from smspec.service.facts import table


def assumptions(data: JobData, reading: Reading | None, s3: S3Service, local: LocalData, hosts: int) -> Iterator[str]:
    """Yield them, what the run has measured first. ``local``: the data of the run, which had ``hosts``."""
    whole, read = sum(channel.size for channel in data.channels), sum(each.bytes for each in local.extents.values())
    if reading is not None:
        if hosts != len(data.hosts):
            yield f"each of {len(data.hosts)} hosts reads as fast as one of {hosts} in this run"
        yield "the script is as fast as on this machine: CPU, GPU, and traffic among hosts are not scaled"
        yield from reading.notes
        if read and whole != read:
            factor = figure(whole / read)
            yield f"the job reads {factor} times the data of this run, and takes so many times as long, at any factor"
    for kind, limits in data.limits.items():
        yield from _of_instance(kind, limits)
    low, high = (f"{seconds * 1000:g}" for seconds in (s3.latency.least, s3.latency.most))
    yield (
        f"S3 sends {_mb(s3.request_rate)} or more for each request, the first byte after {low} to {high} ms; SageMaker "
        f"makes {s3.requests} or more requests at once, of up to {size(s3.range)}, which it does not publish"
    )
    yield (
        f"File: SageMaker downloads {_mb(s3.download_rate)} or more if the instance allows that, as in its example of "
        "50 GB in 5 minutes"
    )
    yield "File: what the script reads is at best still in memory, and at worst on the disk"
    yield "FastFile: the script reads ahead at best, one object after the other at worst, and every pass from S3"
    yield "the instance reads and computes at the same time at best, and one after the other at worst"
    yield "a script for one input mode may have to be changed for another one"
    yield "waiting for instances, downloading the image, and uploading the model are not included"
    for channel in data.channels:
        yield from _of_channel(channel)


def _of_instance(kind: str, limits: HostLimits) -> Iterator[str]:
    as_of = table("instance_bandwidth").as_of
    yield f"`{kind}`: {_span(limits.network)} from the network, the upper figure only for a time ({as_of})"
    if limits.disk is None:
        yield f"`{kind}`: AWS does not publish the speed of its local storage, so the disk limits nothing here"
    else:
        yield f"`{kind}`: {_span(limits.disk)} to and from its volume, of type gp2, whose GB have 2^30 bytes"


def _of_channel(channel: JobChannel) -> Iterator[str]:
    name = channel.name
    if channel.objects is None:
        yield f"`{name}`: the number of objects is unknown, so the first bytes of objects are not waited for"
    elif channel.is_estimated:
        yield f"`{name}`: objects are as large as those of this run, so {channel.objects:,} in all"
    if channel.is_sharded:
        yield f"`{name}`: all objects are equally large, and hosts get equally many of them"
    if channel.channel.compression == "Gzip":
        yield f"`{name}`: bytes are those of the compressed objects"


def _span(rate: Interval) -> str:
    return f"{rates(rate)} MB/s"


def _mb(rate: float) -> str:
    return f"{figure(rate / 1e6)} MB/s"
