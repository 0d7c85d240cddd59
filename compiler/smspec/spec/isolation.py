"""Whether a job runs in network isolation, and which key sets it."""

from __future__ import annotations

from smspec.source import Path
from smspec.spec.model import JobSpec

_MEMBER = "EnableNetworkIsolation"


def isolation_path(job: JobSpec) -> Path | None:
    """Return the key that turns network isolation on; None where it is off."""
    if _MEMBER in job.api:
        return ("api", _MEMBER) if job.api[_MEMBER] is True else None
    return ("network", "isolation") if job.network and job.network.isolation else None
