"""Make the prediction at the end of a run, and list what it assumes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from smspec.local.channels.channel_data import ChannelData
from smspec.local.prediction.job_data import JobChannel, JobData, extents_of_run, is_of_spec
from smspec.local.prediction.limits import DOCUMENTED, HostLimits, Interval, S3Service, host_limits
from smspec.local.prediction.prediction import Prediction, figure, predicted_modes, rates
from smspec.local.record.units import size
from smspec.local.running.training_request import TrainingRequest
from smspec.rules.channels import readers
from smspec.service.facts import table
from smspec.source import DataExtent
from smspec.spec.model import JobSpec


def predicted_job(job: JobSpec, training: TrainingRequest, data: Sequence[ChannelData]) -> Prediction | None:
    """Return the prediction; None without data in S3. ``data``: the channels of a run that the job has in S3."""
    sizes = {channel.name: channel.size for channel in job.channels}
    is_known = any(sizes.get(each.channel.name) is not None or is_of_spec(each) for each in data)
    unknown: list[str] = []
    # Without any size, nothing is predicted, and the data need not be listed.
    channels = _channels(data, sizes, extents_of_run(data if is_known else ()), unknown)
    hosts = training.hosts()
    limits = {
        kind: host_limits(kind, training.volume_gb) for kind in dict.fromkeys(each.instance_type for each in hosts)
    }
    unknown += [f"the bandwidth of `{kind}` is unknown" for kind, found in limits.items() if found is None]
    if data and unknown:
        return Prediction(unknown=tuple(unknown), is_expected=is_known)
    if not any(channel.size and channel.channel.hosts(hosts) for channel in channels):
        return None
    known = {kind: found for kind, found in limits.items() if found is not None}
    of_job = JobData(channels=channels, hosts=hosts, limits=known, readers=readers(job))
    counts = [channel.objects for channel in channels if channel.objects is not None]
    return Prediction(
        is_expected=True,
        instances=Counter(host.instance_type for host in hosts),
        data=sum(channel.size for channel in channels),
        objects=sum(counts) if len(counts) == len(channels) else None,
        modes=predicted_modes(of_job),
        assumptions=tuple(_assumptions(of_job, DOCUMENTED)),
    )


def _channels(
    data: Sequence[ChannelData], sizes: Mapping[str, int | None], extents: Mapping[str, DataExtent], unknown: list[str]
) -> tuple[JobChannel, ...]:
    found = []
    for each in data:
        name, extent = each.channel.name, extents.get(each.channel.name)
        declared = sizes.get(name)
        if is_of_spec(each) and extent is not None:
            found.append(JobChannel(channel=each.channel, size=extent.bytes, objects=extent.files))
        elif declared is None:
            unknown.append(f"the size of channel `{name}` in S3 is unknown: set `channels.{name}.size`")
        else:
            # Objects of the run without content say nothing about those of the job.
            of_run = extent if extent is not None and extent.bytes else None
            objects = None if of_run is None else max(1, round(declared * of_run.files / of_run.bytes))
            found.append(JobChannel(channel=each.channel, size=declared, objects=objects, is_estimated=True))
    return tuple(found)


def _assumptions(data: JobData, s3: S3Service) -> Iterator[str]:
    """Yield what a prediction assumes, in sentences."""
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
    yield "the script only reads: how long it computes is not predicted, because instances are not this machine"
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
