"""Who starts the author's program in the container: what a job may ask for depends on it."""

from __future__ import annotations

from typing import Literal

from smspec.spec.model import BuiltImage, JobSpec

Starter = Literal["runtime", "toolkit", "image"]


def starter(job: JobSpec) -> Starter:
    """Tell who starts the job.

    ``runtime``: ours, in an image that we build or brought by a channel. ``toolkit``: the training toolkit in an image
    of others, told through hyperparameters. ``image``: the image by itself, or a command that is given to it.
    """
    if isinstance(job.image, BuiltImage) or job.delivery == "channel":
        return "runtime" if job.entry_point is not None else "image"
    return "toolkit" if job.delivery == "s3" else "image"


def makes_arguments(job: JobSpec) -> bool:
    """Return whether hyperparameters become arguments of the program."""
    match starter(job):
        case "runtime":
            # A function that is called, and a handler of a pipe loop, get the job itself.
            return getattr(job.entry_point, "args_style", "none") != "none"
        case "toolkit":
            return True
        case "image":
            return False
