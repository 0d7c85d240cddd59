"""The extent of a channel's local data, without reading a file."""

from __future__ import annotations

import os

from smspec.source.listing import DataExtent
from smspec.workspace.boundary import Boundary

MOST_ENTRIES = 1_000
"""Entries of directories to look at. More data takes longer to look at than a check may take, and stays unknown."""


def data_extent(path: str, boundary: Boundary) -> DataExtent | None:
    """Return how much is at a path; None if that is unknown.

    Nothing outside of the boundary is looked at. A link may lead anywhere, and what is below a directory that cannot be
    listed is unknown, so with either the whole extent is.
    """
    try:
        if not boundary.contains(path):
            return None
        if boundary.is_file(path):
            return DataExtent(files=1, bytes=os.stat(path).st_size)
        return _below(path) if boundary.is_directory(path) else None
    except (OSError, ValueError):
        return None


def _below(directory: str) -> DataExtent | None:
    files = size = seen = 0
    waiting = [directory]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES or entry.is_symlink():
                    return None
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_size
                else:
                    return None
    return DataExtent(files=files, bytes=size)
