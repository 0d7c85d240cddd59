"""Channels that a host sees where their local files are, instead of copies of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from smspec.local.channel_data import ChannelData
from smspec.local.feeder.objects import StoredObject
from smspec.local.s3.location import is_s3

_MOST_FILES = 2_000
"""A mount for each file: more of them slow down a run, and in the end the machine."""


@dataclass(frozen=True, slots=True)
class MountedChannel:
    """A whole directory that has exactly the objects of a host, or single files: object → file."""

    directory: str = ""
    files: dict[str, str] = field(default_factory=dict)


def mounted(data: ChannelData, objects: Sequence[StoredObject]) -> MountedChannel | None:
    """Return what to mount so that a host sees ``objects`` of a channel, and nothing else; None: copy them."""
    if is_s3(data.source) or not all(os.access(stored.path, os.R_OK) for stored in objects):
        return None
    if data.channel.s3_data_type == "S3Prefix" and _files_below(data.source) == len(objects):
        return MountedChannel(directory=data.source)
    if len(objects) > _MOST_FILES:
        return None
    return MountedChannel(files={stored.key: stored.path for stored in objects})


def _files_below(source: str) -> int | None:
    """Return the number of files below a directory; None if it also has what an S3 prefix cannot have.

    That is a link, which would lead elsewhere inside a host; a FIFO or a socket, through which a process of this
    machine listens; and an empty directory.
    """
    if not os.path.isdir(source):
        return None
    count = 0
    ahead = [source]
    while ahead:
        is_empty = True
        with os.scandir(ahead.pop()) as entries:
            for entry in entries:
                is_empty = False
                if entry.is_file(follow_symlinks=False):
                    count += 1
                elif entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
                else:
                    return None
        if is_empty:
            return None
    return count
