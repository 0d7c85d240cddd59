"""What starts the author's script in the container: it decides which keys a job may use."""

from __future__ import annotations

from typing import Literal

from smspec.spec.model import BuiltImage, JobSpec

Starter = Literal["runtime", "toolkit", "image"]


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
