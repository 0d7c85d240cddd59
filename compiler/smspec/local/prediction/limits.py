"""What limits a transfer: S3, the network, and the disk of an instance, as AWS documents them: bounds, not values."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.service.facts import instance, instance_bandwidth
from smspec.source.frozen import dataclass

_GIB, _MIB = 1 << 30, 1 << 20
_SMALL_GP2, _LARGE_GP2 = 170, 334
"""GiB; https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html#gp2-performance: 128 MiB/s up to the first
size, 250 MiB/s from the second one on, and in between too, as long as there are burst credits."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value between ``least`` and ``most``."""

    least: float
    most: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.most + other.most)

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; the factor is not negative."""
        return Interval(self.least * factor, self.most * factor)


NONE = Interval(0.0, 0.0)


def slowest(intervals: Iterable[Interval]) -> Interval:
    """Return the largest of several values."""
    known = list(intervals)
    return Interval(max(each.least for each in known), max(each.most for each in known))


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Service:
    """``request_rate``: bytes per second of one request. ``latency``: seconds until its first byte.

    ``requests``: how many SageMaker makes at once, at least. ``download_rate``: bytes per second of a download in File
    mode, at least, if the instance is not slower. ``range``: bytes of one request for a part of a large object.
    ``listed``: keys in the response to one request.
    """

    request_rate: float
    latency: Interval
    requests: int
    download_rate: float
    range: int
    listed: int = 1000


DOCUMENTED = S3Service(
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-design-patterns.html: one request for
    # each 85 to 90 MB/s; small requests often take tens of milliseconds.
    request_rate=85e6,
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html: the first byte comes after
    # roughly 100 to 200 ms.
    latency=Interval(0.02, 0.2),
    # SageMaker publishes no number; this is the default of the transfers of boto3 and of the AWS CLI.
    requests=10,
    # The same page on design patterns: ranges of 8 to 16 MB.
    range=16_000_000,
    # https://docs.aws.amazon.com/sagemaker/latest/dg/model-access-training-data-best-practices.html: 50 GB in objects
    # of 100 MB take about 5 minutes.
    download_rate=50e9 / 300,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """Bytes, and bytes per second. ``disk`` None: local storage, whose speed AWS does not publish.

    ``capacity`` None: unknown, because the job does not set it.
    """

    network: Interval
    disk: Interval | None
    capacity: int | None


def host_limits(instance_type: str, volume_gb: int | None) -> HostLimits | None:
    """Return the limits of an instance type with a volume; None if EC2's figures for it are unknown."""
    facts, bandwidth = instance(instance_type), instance_bandwidth(instance_type)
    if facts is None or bandwidth is None or facts.nvme_gb is None:
        return None
    network = Interval(bandwidth.network.baseline, bandwidth.network.peak)
    if facts.nvme_gb:
        return HostLimits(network=network, disk=None, capacity=facts.nvme_gb * _GIB)
    volume = _gp2(volume_gb)
    disk = Interval(min(bandwidth.volumes.baseline, volume.least), min(bandwidth.volumes.peak, volume.most))
    capacity = None if volume_gb is None else volume_gb * _GIB
    return HostLimits(network=network, disk=disk, capacity=capacity)


def _gp2(volume_gb: int | None) -> Interval:
    """Return the throughput of a volume of SageMaker, which is of the type gp2."""
    slow, fast = 128.0 * _MIB, 250.0 * _MIB
    if volume_gb is None:
        return Interval(slow, fast)
    return Interval(fast if volume_gb >= _LARGE_GP2 else slow, slow if volume_gb <= _SMALL_GP2 else fast)
