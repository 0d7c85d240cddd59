"""Lays out the channels of File and FastFile mode: one directory per channel, one file per object."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import sys
import time
from dataclasses import replace

from smspec.local.channel_data import ChannelData
from smspec.local.events import ChannelLaid, Reporter
from smspec.local.feeder.entries import Entries, Objects
from smspec.local.feeder.objects import StoredObject
from smspec.local.feeder.ordering import order
from smspec.local.request import Unable
from smspec.local.training_request import Host

_FICLONE = 0x40049409
_READ_ONLY = 0o444


class ChannelLayout:
    """Lays channels out host by host.

    Objects are copied, never linked to the author's files: a program may write to its input. On file systems that
    can, a copy shares its blocks with the original; hosts that get the same object share one copy.
    """

    def __init__(self, hosts: tuple[Host, ...], reporter: Reporter) -> None:
        self._hosts = hosts
        self._reporter = reporter
        self._copies: dict[tuple[str, str], str] = {}
        self._entries: dict[str, Entries] = {}

    def lay(self, data: ChannelData, host: Host, directory: str) -> None:
        """Make ``directory/<channel>`` as SageMaker fills it on ``host``, and the manifest beside it."""
        started = time.monotonic()
        name = data.channel.name
        entries = self._entries.get(name) or data.entries()
        self._entries[name] = entries
        if not isinstance(entries, Objects):
            raise Unable(1, f"channel `{name}`: an AugmentedManifestFile is streamed, in Pipe mode only")
        told = data.feeder_channel(host, self._hosts)
        chosen = order(len(entries), told.shuffle_seed, 0, told.shard, told.shards)
        objects = [entries.objects[index] for index in sorted(chosen)]
        root = os.path.join(directory, name)
        os.makedirs(root)
        laid = ChannelLaid(
            host=host.name,
            channel=name,
            mode=data.channel.mode,
            size=0,
            total=sum(stored.size for stored in objects),
            seconds=0.0,
        )
        self._reporter.report(laid)
        for stored in objects:
            self._place(data, stored, root)
            laid = replace(laid, size=laid.size + stored.size, seconds=time.monotonic() - started)
            self._reporter.report(laid)
            self._reporter.tick()
        manifest = root + "-manifest"
        if not os.path.exists(manifest):
            with open(manifest, "w", encoding="utf-8") as file:
                json.dump([stored.key for stored in objects], file)

    def _place(self, data: ChannelData, stored: StoredObject, root: str) -> None:
        name = data.channel.name
        if any(step in ("", ".", "..") for step in stored.key.split("/")):
            raise Unable(1, f"channel `{name}`: the object `{stored.key}` would lie outside of the channel's directory")
        target = os.path.join(root, *stored.key.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(target):
            return  # a manifest may name an object twice
        copied = self._copies.get((name, stored.key))
        if copied is not None:
            os.link(copied, target)
            return
        copy(stored.path, target)
        if data.channel.mode == "FastFile":
            os.chmod(target, _READ_ONLY)  # FastFile mounts its objects read-only
        self._copies[name, stored.key] = target


def copy(source: str, target: str) -> None:
    """Copy the bytes of a file, sharing blocks with the original where the file system can."""
    if sys.platform.startswith("linux"):
        with open(source, "rb") as original, open(target, "wb") as clone:
            try:
                fcntl.ioctl(clone, _FICLONE, original.fileno())
                return
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM):
                    raise
    shutil.copyfile(source, target)
