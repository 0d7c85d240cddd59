"""What an instance allows: how fast its network and disk are, how much they store, and what an hour costs."""

from __future__ import annotations

from dataclasses import dataclass

from smspec.local.prediction.s3_service import Interval
from smspec.service.facts import instance, instance_bandwidth

_GIB, _MIB = 1 << 30, 1 << 20
_SMALL_GP2, _LARGE_GP2 = 170, 334
"""GiB; https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html#gp2-performance: 128 MiB/s up to the first
size, 250 MiB/s from the second one on, and in between too, as long as there are burst credits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """Bytes, and bytes per second. ``disk`` None: local storage, whose speed AWS does not publish.

    ``capacity`` None: unknown, because the job does not set it.
    """

    network: Interval
    disk: Interval | None
    capacity: int | None
    memory: int | None


def host_limits(instance_type: str, volume_gb: int | None) -> HostLimits | None:
    """Return the limits of an instance type with a volume; None if EC2's figures for it are unknown."""
    facts, bandwidth = instance(instance_type), instance_bandwidth(instance_type)
    if facts is None or bandwidth is None or facts.nvme_gb is None:
        return None
    network = Interval(bandwidth.network.baseline, bandwidth.network.peak)
    if facts.nvme_gb:
        return HostLimits(network=network, disk=None, capacity=facts.nvme_gb * _GIB, memory=facts.memory_bytes)
    volume = _gp2(volume_gb)
    disk = Interval(min(bandwidth.volumes.baseline, volume.least), min(bandwidth.volumes.peak, volume.most))
    capacity = None if volume_gb is None else volume_gb * _GIB
    return HostLimits(network=network, disk=disk, capacity=capacity, memory=facts.memory_bytes)


def _gp2(volume_gb: int | None) -> Interval:
    """Return the throughput of a volume of SageMaker, which is of the type gp2."""
    slow, fast = 128.0 * _MIB, 250.0 * _MIB
    if volume_gb is None:
        return Interval(slow, fast)
    return Interval(fast if volume_gb >= _LARGE_GP2 else slow, slow if volume_gb <= _SMALL_GP2 else fast)
