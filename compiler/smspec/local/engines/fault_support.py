"""Which faults of its surroundings a run can have on an engine."""

from __future__ import annotations

import os
import sys

from smspec.local.disturbances import SurroundingFaults

_NAMESPACE = "pass `--engine namespace`"


def unsupported(faults: SurroundingFaults, engine: str) -> str | None:
    """Return why an engine cannot inject the faults, and what to do; None if it can."""
    if faults.room is not None and engine == "process":
        return f"`--engine {engine}` cannot limit the disk of a host: {_NAMESPACE}"
    if faults.protects_model and engine == "process" and os.geteuid() == 0:
        return f"root may write to a directory that is read-only: {_NAMESPACE}"
    is_here = engine in ("namespace", "process")
    if faults.kill_after is not None and is_here and not sys.platform.startswith("linux"):
        return "smspec finds the processes of a job only on Linux"
    return None
