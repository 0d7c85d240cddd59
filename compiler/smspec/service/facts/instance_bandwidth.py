"""How fast the network and the EBS volumes of an instance type are, as far as EC2 says."""

from __future__ import annotations

from functools import cache

from smspec.service.facts.table import table
from smspec.source.frozen import dataclass

_GIGABIT, _MEGABIT = 1e9 / 8, 1e6 / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """Bytes per second, always available (``baseline``) and at most, for bursts (``peak``)."""

    baseline: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceBandwidth:
    """``network`` is that of the first network card, which reaches S3; ``volumes``: all EBS volumes together."""

    network: Bandwidth
    volumes: Bandwidth


@cache
def instance_bandwidth(kind: str) -> InstanceBandwidth | None:
    """Return the bandwidth of a type such as ``ml.g5.xlarge``; None if EC2 does not say it."""
    for row in table("instance_bandwidth").rows(kind):
        cells = [row[name] for name in ("network_baseline_gbps", "network_peak_gbps")]
        volumes = [row[name] for name in ("ebs_baseline_mbps", "ebs_peak_mbps")]
        if all((*cells, *volumes)):
            low, high = (float(cell) * _GIGABIT for cell in cells)
            slow, fast = (float(cell) * _MEGABIT for cell in volumes)
            return InstanceBandwidth(
                network=Bandwidth(baseline=low, peak=high), volumes=Bandwidth(baseline=slow, peak=fast)
            )
    return None
