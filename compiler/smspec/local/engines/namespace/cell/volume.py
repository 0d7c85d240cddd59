"""File systems of limited size in memory for the directories of a host, which get the content at the end."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from . import kernel
from .plan import Volume

_OF_THE_RUNTIME = 1
"""Pages: the runtime reserves room for a failure file before it starts the script."""


def mount_volume(volume: Volume) -> None:
    """Mount the file system, with the content that the directories have now, and room for ``volume.room`` bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    pages = volume.room // page + _OF_THE_RUNTIME + sum(_pages(directory, page) for directory in volume.directories)
    kernel.mount("tmpfs", volume.place, kernel.NO_SUID | kernel.NO_DEVICES, f"size={pages * page},mode=755")
    for number, directory in enumerate(volume.directories):
        _copy(directory, volume.path(number))


def keep_content(volume: Volume) -> None:
    """Copy what the host wrote to the directories, so that it outlives the file system."""
    for number, directory in enumerate(volume.directories):
        with suppress(OSError):
            shutil.rmtree(directory)
        _copy(volume.path(number), directory)


def _copy(source: str, target: str) -> None:
    # An Error is about single files, such as a FIFO that a script created: it has no content to keep.
    with suppress(shutil.Error):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _pages(directory: str, page: int) -> int:
    sizes = (os.lstat(os.path.join(above, name)).st_size for above, _, names in os.walk(directory) for name in names)
    return sum(-(-size // page) for size in sizes)
