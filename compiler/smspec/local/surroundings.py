"""Faults of what surrounds the hosts of a run, injected to test how a job handles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SurroundingFaults:
    """``absent``: a host that never starts, although the others know it.

    ``room``: the bytes that a host can write to its model, output, and checkpoints. ``protects_model``: its model
    directory is read-only. ``kill_after``: the seconds after which a training process of the last host gets SIGKILL,
    a third of an undisturbed run; ``kills_rank``: only one that a launcher has started. ``variables`` replace those of
    the hosts. ``limit``: the seconds after which the run is stopped.
    """

    absent: str | None = None
    room: int | None = None
    protects_model: bool = False
    kill_after: float | None = None
    kills_rank: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    limit: float | None = None


NO_FAULTS = SurroundingFaults()
