"""What happens when a job starts, as its keys decide: what starts the author's script, and what pip installs.

What starts it decides which keys a job may use. Whether it can reach a package index depends on the keys that isolate
its network, or put it in a VPC.
"""

from __future__ import annotations

import posixpath
from typing import Literal

from smspec.source import ListedFile, Listing, Path
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec

Starter = Literal["runtime", "toolkit", "image"]

REQUIREMENTS = "requirements.txt"

_MEMBER = "EnableNetworkIsolation"
_INDEXES = ("PIP_", "UV_", "CA_REPOSITORY_ARN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def starter(job: JobSpec) -> Starter:
    """Return what starts the job.

    ``runtime``: the smspec runtime, in an image that smspec builds or delivered by a channel. ``toolkit``: the
    SageMaker Training Toolkit in an existing image, configured by hyperparameters. ``image``: the image itself, or a
    command that is passed to it.
    """
    if isinstance(job.image, BuiltImage) or job.delivery == "channel":
        return "runtime" if job.entry_point is not None else "image"
    return "toolkit" if job.delivery == "s3" else "image"


def makes_arguments(job: JobSpec) -> bool:
    """Return whether hyperparameters become arguments of the script."""
    match starter(job):
        case "runtime":
            # A function, and a handler of a pipe loop, get the job itself.
            return getattr(job.entry_point, "args_style", "none") != "none"
        case "toolkit":
            return True
        case "image":
            return False


def startup_requirements(job: JobSpec, source: Listing) -> ListedFile | None:
    """Return the file, unless nothing installs it, it is empty, or the image is built with the same file."""
    if job.source is None or starter(job) == "image":
        return None
    if starter(job) == "toolkit" and isinstance(job.entry_point, CommandEntry):
        return None
    written = job.image.python_requirements if isinstance(job.image, BuiltImage) else None
    if written is not None and posixpath.normpath(written) == posixpath.normpath(
        posixpath.join(job.source.dir, REQUIREMENTS)
    ):
        return None
    return next((file for file in source.files if file.path == REQUIREMENTS and file.size), None)


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
