"""The rows of the tables of instance types, of their bandwidth, of regions without them, and of partitions.

EC2's answers are those that moto contains; the types are those of botocore's model of SageMaker, and the partitions
those with which botocore finds endpoints. No file of either is run.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from smspec.service.facts import Row

_TYPES = "ec2/resources/instance_types.json.gz"
_OFFERINGS = "ec2/resources/instance_type_offerings/region"
_MODEL = "data/sagemaker/2017-07-24/service-2.json.gz"
_PREFIX = "ml."
_COMPATIBLE = "i386"
# The row of the regions that were looked at.
_ALL = "*"
_WITHOUT = "regions_without_it"

Answer = Mapping[str, Any]


def training_types(botocore: str) -> list[str]:
    """Return the instance types of training jobs, in the order of the model in an installed botocore."""
    names: list[str] = _content(os.path.join(botocore, _MODEL))["shapes"]["TrainingInstanceType"]["enum"]
    return names


def described_types(moto: str) -> dict[str, Answer]:
    """Return what EC2 describes: its type, without ``ml.``, to the answer."""
    found: dict[str, Answer] = _content(os.path.join(moto, _TYPES))
    return found


def offered_types(moto: str) -> dict[str, set[str]]:
    """Return region → the types that EC2 offers there."""
    files = sorted(glob.glob(os.path.join(moto, _OFFERINGS, "*.json.gz")))
    return {
        os.path.basename(path).partition(".")[0]: {each["InstanceType"] for each in _content(path)} for path in files
    }


def instance_rows(types: Iterable[str], described: Mapping[str, Answer], before: Iterable[Row]) -> list[Row]:
    """Return a row for each type. What EC2 no longer describes stays as it is; a new type is empty until it does."""
    old = {row["type"]: row for row in before}
    empty = dict.fromkeys(next(iter(old.values())), "")
    return [
        _row(kind, described[kind.removeprefix(_PREFIX)])
        if kind.removeprefix(_PREFIX) in described
        else old.get(kind, {**empty, "type": kind})
        for kind in types
    ]


def bandwidth_rows(types: Iterable[str], described: Mapping[str, Answer], before: Iterable[Row]) -> list[Row]:
    """Return the bandwidth of each type, as `instance_rows` returns the rest."""
    old = {row["type"]: row for row in before}
    empty = dict.fromkeys(next(iter(old.values())), "")
    return [
        _bandwidth(kind, described[kind.removeprefix(_PREFIX)])
        if kind.removeprefix(_PREFIX) in described
        else old.get(kind, {**empty, "type": kind})
        for kind in types
    ]


def not_offered_rows(
    types: Iterable[str], described: Iterable[str], offered: Mapping[str, set[str]], before: Iterable[Row]
) -> list[Row]:
    """Return, for each type that EC2 has anywhere, the regions without it.

    What EC2 no longer describes stays as it is: EC2 does not bring an old type to another region.
    """
    old = {row["type"]: row[_WITHOUT] for row in before}
    there = {*described}
    found = {_ALL: " ".join(offered)}
    for kind in types:
        name = kind.removeprefix(_PREFIX)
        if name in there:
            found[kind] = " ".join(region for region, names in offered.items() if name not in names)
        elif kind in old:
            found[kind] = old[kind]
    return [{"type": kind, _WITHOUT: regions} for kind, regions in found.items()]


def _row(kind: str, answer: Answer) -> Row:
    gpus = answer.get("GpuInfo", {}).get("Gpus", [])
    neurons = answer.get("NeuronInfo", {}).get("NeuronDevices", [])
    network = answer["NetworkInfo"]
    cells = {
        "type": kind,
        "vcpu": answer["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": answer["MemoryInfo"]["SizeInMiB"],
        "arch": " ".join(name for name in answer["ProcessorInfo"]["SupportedArchitectures"] if name != _COMPATIBLE),
        "gpu": gpus[0]["Name"] if gpus else "",
        "gpus": sum(gpu["Count"] for gpu in gpus),
        "gpu_memory_mib": gpus[0]["MemoryInfo"]["SizeInMiB"] if gpus else "",
        "neuron": neurons[0]["Name"] if neurons else "",
        "neurons": sum(device["Count"] for device in neurons),
        "neuron_cores": neurons[0]["CoreInfo"]["Count"] if neurons else "",
        "nvme_gb": answer.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "network_gbps": sum(card.get("PeakBandwidthInGbps", 0) for card in network.get("NetworkCards", ())),
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
    }
    return {name: str(cell) for name, cell in cells.items()}


def _bandwidth(kind: str, answer: Answer) -> Row:
    """SageMaker's traffic with S3 uses the first network card; the others are for the hosts among each other."""
    cards = answer["NetworkInfo"].get("NetworkCards") or [{}]
    volumes = answer.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    cells = {
        "type": kind,
        "network_baseline_gbps": cards[0].get("BaselineBandwidthInGbps", ""),
        "network_peak_gbps": cards[0].get("PeakBandwidthInGbps", ""),
        "ebs_baseline_mbps": volumes.get("BaselineBandwidthInMbps", ""),
        "ebs_peak_mbps": volumes.get("MaximumBandwidthInMbps", ""),
    }
    return {name: str(cell) for name, cell in cells.items()}


def _content(path: str) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


_GLOBAL = "-global"
"""The end of names that are endpoints of global services, not regions."""


def partition_rows(botocore: str) -> list[Row]:
    """Return a row for each partition in an installed botocore, sorted by name."""
    with open(os.path.join(botocore, "data", "partitions.json"), encoding="utf-8") as file:
        found: list[Any] = json.load(file)["partitions"]
    return [
        {
            "partition": each["id"],
            "dns_suffix": each["outputs"]["dnsSuffix"],
            "dual_stack_suffix": each["outputs"]["dualStackDnsSuffix"],
            "region_pattern": each["regionRegex"].strip("^$").replace("\\-", "-"),
            "regions": " ".join(sorted(region for region in each["regions"] if not region.endswith(_GLOBAL))),
        }
        for each in sorted(found, key=lambda each: str(each["id"]))
    ]
