"""The memory that each host of a run may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from smspec.local.request import RunFailed
from smspec.local.training_request import Host
from smspec.service.facts.instances import instance

AUTO: Literal["auto"] = "auto"


def memory_limits(wanted: int | Literal["auto"] | None, hosts: Sequence[Host]) -> dict[str, int]:
    """Return host → bytes; empty without a limit. ``auto``: the memory of its instance type. Raise RunFailed."""
    if wanted is None:
        return {}
    if wanted != AUTO:
        return {host.name: wanted for host in hosts}
    limits = {}
    for host in hosts:
        facts = instance(host.instance_type)
        if facts is None or facts.memory_bytes is None:
            raise RunFailed(
                2, f"--memory auto: the memory of `{host.instance_type}` is unknown; pass a size such as --memory 16GB"
            )
        limits[host.name] = facts.memory_bytes
    return limits
