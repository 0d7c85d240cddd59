"""The GPUs of the hosts: those of this machine, which all hosts share."""

from __future__ import annotations

import glob
from collections.abc import Sequence

from smspec.local.training_request import Host
from smspec.service.facts import instance

_DEVICES = "/dev/nvidia[0-9]*"


def machine_gpus() -> int:
    """Return how many GPUs the driver of NVIDIA shows on this machine."""
    return len(glob.glob(_DEVICES))


def gpu_differences(hosts: Sequence[Host]) -> list[str]:
    """Return the difference between the GPUs of the instances and those of this machine, if there is one."""
    kind = max((host.instance_type for host in hosts), key=_gpus)
    wanted, here = _gpus(kind), machine_gpus()
    if not wanted or here == wanted == sum(_gpus(host.instance_type) for host in hosts):
        return []
    has = f"`{kind}` has {_count(wanted)}"
    if not here:
        return [f"{has}, this machine has none"]
    shared = ", which all hosts share" if len(hosts) > 1 else ""
    return [f"{has}, this machine has {_count(here)}{shared}"]


def gpu_words(program: str, host: Host) -> list[str]:
    """Return the options that give a container all GPUs of this machine, if its instance has some.

    podman accepts ``--gpus`` and ignores it.
    """
    if not _gpus(host.instance_type) or not machine_gpus():
        return []
    return ["--device=nvidia.com/gpu=all"] if program == "podman" else ["--gpus=all"]


def _gpus(kind: str) -> int:
    facts = instance(kind)
    return (facts.gpus if facts is not None else None) or 0


def _count(number: int) -> str:
    return "1 GPU" if number == 1 else f"{number} GPUs"
