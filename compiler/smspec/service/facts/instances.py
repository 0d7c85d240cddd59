"""What EC2 says of the instance types of the API model, of their bandwidth, and of the regions that lack them."""

from __future__ import annotations

from functools import cache

from smspec.service.facts import Table, table
from smspec.source.frozen import dataclass

_GIGABIT, _MEGABIT = 1e9 / 8, 1e6 / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFacts:
    """One instance type; None is unknown, 0 is none. ``nvme_gb`` is its local storage in all."""

    vcpus: int | None
    memory_bytes: int | None
    gpus: int | None
    neuron_cores: int | None
    nvme_gb: int | None
    efa_interfaces: int | None


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
def instance(kind: str) -> InstanceFacts | None:
    """Return the facts about a type such as ``ml.g5.xlarge``; None for a type that is not in the table."""
    facts = table("instances")
    cells = _cells(facts, kind)
    if cells is None:
        return None
    row = dict(zip(facts.columns, cells, strict=True))
    devices = _number(row["neurons"])
    mebibytes = _number(row["memory_mib"])
    return InstanceFacts(
        vcpus=_number(row["vcpu"]),
        memory_bytes=mebibytes << 20 if mebibytes is not None else None,
        gpus=_number(row["gpus"]),
        neuron_cores=devices * (_number(row["neuron_cores"]) or 0) if devices is not None else None,
        nvme_gb=_number(row["nvme_gb"]),
        efa_interfaces=_number(row["efa_interfaces"]),
    )


def architecture(kind: str) -> str:
    """Return ``x86_64`` or ``arm64``; empty if it is unknown."""
    facts = table("instances")
    cells = _cells(facts, kind)
    return cells[facts.columns.index("arch")] if cells else ""


@cache
def known_types() -> tuple[str, ...]:
    """Return every instance type of the table."""
    return tuple(line.partition(",")[0] for line in table("instances").lines)


def lacks(region: str, kind: str) -> bool:
    """Return whether EC2 certainly did not offer a type in a region on the date of the table.

    What EC2 lacks, SageMaker lacks too; it may lack more.
    """
    if instance(kind) is None:
        return False
    without = _cells(table("ec2_not_offered"), kind)
    return without is not None and region in without[1].split(" ")


def _cells(facts: Table, first: str) -> list[str] | None:
    """Return the cells of the row of a type. They contain no quotes, so a job need not import the csv module."""
    beginning = f"{first},"
    return next((line.split(",") for line in facts.lines if line.startswith(beginning)), None)


def _number(cell: str) -> int | None:
    return int(cell) if cell else None


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
