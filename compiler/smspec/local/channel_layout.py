"""Lays out the channels of File and FastFile mode: one directory per channel, one file per object."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from smspec.local.channel_data import ChannelData
from smspec.local.events import ChannelLaid, Reporter
from smspec.local.feeder.entries import Objects
from smspec.local.feeder.fault import DataError, StoreUnavailable
from smspec.local.feeder.objects import StoredObject
from smspec.local.feeder.ordering import order
from smspec.local.feeder.store import Store
from smspec.local.request import Unable
from smspec.local.training_request import Host

_FICLONE = 0x40049409
_READ_ONLY = 0o444
_NO_SHARING = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM)


class ChannelLayout:
    """Lays channels out host by host.

    Objects of File channels are copied, never linked to the author's files: a program may write to its input. On file
    systems that can, a copy shares its blocks with the original; hosts that get the same object share one copy.
    FastFile copies nothing: where blocks cannot be shared, there are symbolic links.
    """

    def __init__(self, hosts: tuple[Host, ...], reporter: Reporter) -> None:
        self._hosts = hosts
        self._reporter = reporter
        self._copies: dict[tuple[str, str], str] = {}
        self._entries: dict[str, tuple[Store, Objects]] = {}
        self._linked: dict[str, tuple[str, int, int]] = {}

    def lay(self, data: ChannelData, host: Host, directory: str) -> None:
        """Make ``directory/<channel>`` as SageMaker fills it on ``host``, and the manifest beside it."""
        try:
            self._lay(data, host, directory)
        except DataError as fault:
            status = 3 if isinstance(fault, StoreUnavailable) else 1
            raise Unable(status, f"channel `{data.channel.name}`: {fault}") from None

    def spoilt(self) -> list[tuple[str, str]]:
        """Return (channel, file) of what a program has written to although FastFile is read-only."""
        return [
            (channel, original)
            for original, (channel, *before) in self._linked.items()
            if _state(original) != tuple(before)
        ]

    def _lay(self, data: ChannelData, host: Host, directory: str) -> None:
        started = time.monotonic()
        name = data.channel.name
        store, entries = self._found(data)
        told = data.feeder_channel(host, self._hosts)
        chosen = sorted(order(len(entries), told.shuffle_seed, 0, told.shard, told.shards))
        # A manifest may name an object twice.
        objects = list({entries.objects[index].key: entries.objects[index] for index in chosen}.values())
        root = os.path.join(directory, name)
        os.makedirs(root)
        laid = ChannelLaid(
            host=host.name,
            channel=name,
            mode=data.channel.mode,
            size=0,
            total=entries.size(chosen) if len(objects) == len(chosen) else None,
            seconds=0.0,
        )
        self._reporter.report(laid)
        for size in self._placed(data, store, objects, root):
            laid = replace(laid, size=laid.size + size, seconds=time.monotonic() - started)
            self._reporter.report(laid)
            self._reporter.tick()
        self._reporter.report(replace(laid, total=laid.size))
        manifest = root + "-manifest"
        if not os.path.exists(manifest):
            with open(manifest, "w", encoding="utf-8") as file:
                json.dump([entries.objects[index].key for index in chosen], file)

    def _found(self, data: ChannelData) -> tuple[Store, Objects]:
        """Return what a channel holds; hosts share what was found for the first of them."""
        name = data.channel.name
        if name not in self._entries:
            store = data.store()
            entries = data.entries(store)
            if not isinstance(entries, Objects):
                raise Unable(1, f"channel `{name}`: an AugmentedManifestFile is streamed, in Pipe mode only")
            self._entries[name] = store, entries
        return self._entries[name]

    def _placed(self, data: ChannelData, store: Store, objects: list[StoredObject], root: str) -> Iterator[int]:
        """Place the objects, and yield the bytes of each or of a part of it."""
        missing = []
        for stored in objects:
            target = _target(data.channel.name, stored, root)
            copied = self._copies.get((data.channel.name, stored.key))
            if copied is None:
                missing.append(stored)
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.link(copied, target, follow_symlinks=False)
                yield os.path.getsize(copied)
        contents = store.contents(missing)
        try:
            for part, blocks in contents:
                assert isinstance(part, StoredObject)
                target = _target(data.channel.name, part, root)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if blocks is None:
                    yield self._from_here(data, part.path, target)
                else:
                    yield from _written(blocks, target)
                if data.channel.mode == "FastFile" and not os.path.islink(target):
                    os.chmod(target, _READ_ONLY)  # FastFile mounts its objects read-only
                self._copies[data.channel.name, part.key] = target
        finally:
            contents.close()

    def _from_here(self, data: ChannelData, source: str, target: str) -> int:
        if not _clone(source, target):
            if data.channel.mode == "FastFile":
                os.unlink(target)
                os.symlink(source, target)
                self._linked[source] = (data.channel.name, *_state(source))
            else:
                shutil.copyfile(source, target)
        return os.path.getsize(target)


def _target(channel: str, stored: StoredObject, root: str) -> str:
    steps = stored.key.split("/")
    if any(step in ("", ".", "..") for step in steps):
        fault = f"the object `{stored.key}` cannot be a file: a step of its name is empty, `.` or `..`"
        raise Unable(1, f"channel `{channel}`: {fault}; rename it, or stream it in Pipe mode")
    return os.path.join(root, *steps)


def _written(blocks: Iterable[bytes], target: str) -> Iterator[int]:
    with open(target, "wb") as file:
        for block in blocks:
            file.write(block)
            yield len(block)


def _clone(source: str, target: str) -> bool:
    """Make ``target``, sharing blocks with the original where the file system can; else leave it empty."""
    with open(source, "rb") as original, open(target, "wb") as clone:
        if not sys.platform.startswith("linux"):
            return False
        try:
            fcntl.ioctl(clone, _FICLONE, original.fileno())
        except OSError as error:
            if error.errno not in _NO_SHARING:
                raise
            return False
        return True


def _state(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns
