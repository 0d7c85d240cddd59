"""What happens when a job starts, as its keys decide: what starts the author's script, and what pip installs.

What starts it decides which keys a job may use. Whether it can reach a package index depends on the keys that isolate
its network, or put it in a VPC.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from smspec.source import ListedFile, Listing, Path
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec

Starter = Literal["runtime", "toolkit", "image"]

REQUIREMENTS = "requirements.txt"

_MEMBER = "EnableNetworkIsolation"
_INDEXES = ("PIP_", "UV_", "CA_REPOSITORY_ARN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

_PYTHON = re.compile(r"(?:/\S*/)?python(?:3(?:\.\d+)?)?")
_FLAGS = re.compile(r"-[bBdOqRsSuv]+")
_LAUNCHING_MODULES = ("accelerate.commands.launch", "torch.distributed.run")


class StartedByCommand(NamedTuple):
    """``at``: where the Python file, or module, is in the words of a command; ``added``: what its launcher passes."""

    at: int
    is_module: bool = False
    added: tuple[str, ...] = ()


def started_by_command(words: Sequence[str]) -> StartedByCommand | None:
    """Return what a command starts, directly or with a launcher; None if that is no Python program, or unknown."""
    words = [*words]
    if not words:
        return None
    name, index = words[0].rpartition("/")[2], 1
    if _PYTHON.fullmatch(words[0]):
        while index < len(words) and _FLAGS.fullmatch(words[index]):
            index += 1
        if words[index : index + 1] != ["-m"]:
            return StartedByCommand(index) if words[index:] and words[index].endswith(".py") else None
        index += 2
        if words[index - 1 :] and words[index - 1] not in _LAUNCHING_MODULES:
            return StartedByCommand(index - 1, is_module=True)
    elif name == "accelerate" and words[1:2] == ["launch"]:
        index = 2
    elif name not in ("torchrun", "deepspeed"):
        return None
    added = ("--local_rank=0",) if name == "deepspeed" and "--no_local_rank" not in words else ()
    for at in range(index, len(words)):
        if words[at] in ("-m", "--module"):
            is_named = bool(words[at + 1 :]) and not words[at + 1].startswith("-")
            return StartedByCommand(at + 1, is_module=True, added=added) if is_named else None
        if words[at].endswith(".py"):
            return StartedByCommand(at, added=added)
    return None


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
