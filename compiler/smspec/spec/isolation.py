"""Whether a job can reach a package index: the keys that isolate its network, or put it in a VPC."""

from __future__ import annotations

from smspec.source import Path
from smspec.spec.model import BuiltImage, JobSpec

_MEMBER = "EnableNetworkIsolation"
_INDEXES = ("PIP_", "UV_", "CA_REPOSITORY_ARN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def isolation_path(job: JobSpec) -> Path | None:
    """Return the key that turns network isolation on; None where it is off."""
    if _MEMBER in job.api:
        return ("api", _MEMBER) if job.api[_MEMBER] is True else None
    return ("network", "isolation") if job.network and job.network.isolation else None


def unrouted_path(job: JobSpec) -> Path | None:
    """Return the key that puts a job in a VPC, unless it is isolated, or sets a package index or a proxy."""
    if job.network is None or not job.network.subnets or isolation_path(job) is not None:
        return None
    variables = [*(job.image.env if isinstance(job.image, BuiltImage) else ()), *job.environment, *job.secrets]
    return None if any(name.upper().startswith(_INDEXES) for name in variables) else ("network", "subnets")
