"""What the processes of a host used.

Memory is that of the largest process: the kernel adds up only the time of ended processes, and a sum needs samples or a
control group, which an ordinary user often cannot create.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """``peak_memory``: the most bytes that one process of the host had in memory; ``cpu_seconds`` are of all.

    ``total_memory``: the most that all had together, if the engine measures it.
    """

    cpu_seconds: float
    peak_memory: int
    total_memory: int | None = None


def read_usage(text: bytes) -> Usage | None:
    """Return the usage that a guard wrote; None if it was killed first."""
    try:
        seconds, memory = json.loads(text)
    except ValueError:
        return None
    return Usage(cpu_seconds=seconds, peak_memory=memory)
