"""Lay out the channels of File and FastFile mode: one directory per channel, one file per object.

A file is copied by reference if the file system can share blocks, else in parts, so that progress can be shown.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

from smspec.local.channels.channel_data import ChannelData, MountedChannel, mounted
from smspec.local.feeder.entries import ChannelObjects, order
from smspec.local.feeder.objects import ChannelDataError, Store, StoredObject, StoreUnavailable
from smspec.local.record import units
from smspec.local.running.events import ChannelLaid, Reporter
from smspec.local.running.request import RunFailed
from smspec.local.running.training_request import Host
from smspec.local.s3 import is_s3
from smspec.source.frozen import replace

_READ_ONLY = 0o444
_LONGEST_NAME = 255
"""The maximum length of a file name in bytes on nearly every file system."""

_MOST_SHOWN = 80
_ALSO_FILE = "its directory is also the name of a different object"
_ALSO_DIRECTORY = "it is also the directory of other objects"
_PROBE = "room.part"
_BLOCK_OF_DISKS = 4096

PART = 16 << 20
"""Bytes that are copied between two checks of signals and progress."""

_READ_SIZE = 1 << 20
_FICLONE = 0x40049409
_NO_SHARING = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM, errno.ENOSYS)


class ChannelLayout:
    """Lays channels out host by host.

    Objects are mounted read-only where the engine can do that. Else they are copied, never linked to the author's
    files: a script may write to its input. On file systems that support it, a copy shares its blocks with the original.
    Each host has its own copy, as on SageMaker; S3 is read once for all of them.
    """

    def __init__(self, hosts: tuple[Host, ...], reporter: Reporter, *, mounts: bool = False) -> None:
        self._hosts = hosts
        self._reporter = reporter
        self._mounts = mounts
        self._mounted: dict[tuple[str, str], MountedChannel | None] = {}
        self._copies: dict[tuple[str, str], str] = {}
        self._entries: dict[str, tuple[Store, ChannelObjects]] = {}

    def lay(self, data: ChannelData, host: Host, directory: str) -> None:
        """Create ``directory/<channel>`` as SageMaker fills it on ``host``, and the manifest next to it."""
        try:
            self._lay(data, host, directory)
        except ChannelDataError as fault:
            raise _unable(data, fault) from None

    def require_room(self, data: Sequence[ChannelData], directory: str) -> None:
        """Check that the file system of ``directory`` has enough space. Raise RunFailed before anything is copied."""
        wanted = {each.channel.name: self._copied(each) for each in data}
        objects = [stored for each in wanted.values() for stored in each]
        size, free = sum(map(_size_of, objects)), shutil.disk_usage(directory).free
        if size > free:
            size -= _shared(objects, directory)
        if size > free:
            names = ", ".join(f"`{name}`" for name, each in wanted.items() if each)
            raise RunFailed(
                3,
                f"the data of {names} needs {units.size(size)}, but `{directory}` has "
                f"{units.size(free)} free: pass less --data, use Pipe mode, or pass -o with a directory elsewhere",
            )

    @property
    def mounted(self) -> dict[tuple[str, str], MountedChannel]:
        """Return (host, channel) → what the engine must mount."""
        return {key: found for key, found in self._mounted.items() if found is not None}

    def _mounted_on(self, data: ChannelData, host: Host) -> MountedChannel | None:
        key = (host.name, data.channel.name)
        if self._mounts and key not in self._mounted:
            self._mounted[key] = mounted(data, self._objects(data, host)[1])
        return self._mounted.get(key)

    def _copied(self, data: ChannelData) -> list[StoredObject]:
        """Return the objects of a channel, once for each host that gets a copy."""
        try:
            hosts = [host for host in self._hosts if data.reaches(host, self._hosts)]
            hosts = [host for host in hosts if self._mounted_on(data, host) is None]
            return [stored for host in hosts for stored in self._objects(data, host)[1]]
        except ChannelDataError as fault:
            raise _unable(data, fault) from None

    def _objects(self, data: ChannelData, host: Host) -> tuple[list[int], list[StoredObject]]:
        """Return the part of ``host``: the numbers of the entries, and the objects."""
        _, entries = self._found(data)
        channel = data.feeder_channel(host, self._hosts)
        chosen = sorted(order(len(entries), channel.shuffle_seed, 0, channel.shard, channel.shards))
        # A manifest may list an object twice.
        return chosen, list({entries.objects[index].key: entries.objects[index] for index in chosen}.values())

    def _lay(self, data: ChannelData, host: Host, directory: str) -> None:
        started = time.monotonic()
        name = data.channel.name
        store, entries = self._found(data)
        chosen, objects = self._objects(data, host)
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
        here = self._mounted_on(data, host)
        if here is not None:
            _require_names(name, here.files)
            laid = replace(laid, size=sum(map(_size_of, objects)), seconds=time.monotonic() - started)
            objects = []
        for size in self._placed(data, store, objects, root):
            laid = replace(laid, size=laid.size + size, seconds=time.monotonic() - started)
            self._reporter.report(laid)
            self._reporter.tick()
        self._reporter.report(replace(laid, total=laid.size))
        manifest = root + "-manifest"
        if not os.path.exists(manifest):
            with open(manifest, "w", encoding="utf-8") as file:
                json.dump([entries.objects[index].key for index in chosen], file)

    def _found(self, data: ChannelData) -> tuple[Store, ChannelObjects]:
        """Return the content of a channel; hosts share the result for the first of them."""
        name = data.channel.name
        if name not in self._entries:
            store = data.store()
            entries = data.entries(store)
            if not isinstance(entries, ChannelObjects):
                raise RunFailed(1, f"channel `{name}`: AugmentedManifestFile requires Pipe mode")
            self._entries[name] = store, entries
        return self._entries[name]

    def _placed(self, data: ChannelData, store: Store, objects: list[StoredObject], root: str) -> Iterator[int]:
        """Place the objects, and yield the bytes of each or of a part of it."""
        missing = []
        for stored in objects:
            target = _target(data.channel.name, stored, root)
            earlier = self._copies.get((data.channel.name, stored.key))
            if earlier is None:
                missing.append(stored)
            else:
                yield from copied(earlier, target)
                _protect(data, target)
        contents = store.contents(missing)
        try:
            for part, blocks in contents:
                assert isinstance(part, StoredObject)
                target = _target(data.channel.name, part, root)
                yield from copied(part.path, target) if blocks is None else _written(blocks, target)
                _protect(data, target)
                self._copies[data.channel.name, part.key] = target
        finally:
            contents.close()


def _unable(data: ChannelData, fault: ChannelDataError) -> RunFailed:
    return RunFailed(3 if isinstance(fault, StoreUnavailable) else 1, f"channel `{data.channel.name}`: {fault}")


def _protect(data: ChannelData, path: str) -> None:
    if data.channel.mode == "FastFile":
        os.chmod(path, _READ_ONLY)  # FastFile mounts its objects read-only


def _shared(objects: list[StoredObject], directory: str) -> int:
    """Return how many bytes of copies below ``directory`` take no space, because they share blocks."""
    probe = os.path.join(directory, _PROBE)
    once = {stored.path: stored for stored in objects}.values()
    here = [stored for stored in once if not is_s3(stored.path)]
    with open(probe, "xb") as file:
        file.write(bytes(_BLOCK_OF_DISKS))
    try:
        of_hosts = sum(map(_size_of, objects)) - sum(map(_size_of, once)) if shares_blocks(probe, probe + "2") else 0
    finally:
        os.unlink(probe)
    of_author = sum(map(_size_of, here)) if here and shares_blocks(max(here, key=_size_of).path, probe) else 0
    return of_hosts + of_author


def _size_of(stored: StoredObject) -> int:
    return stored.size or 0


def _target(channel: str, stored: StoredObject, root: str) -> str:
    """Return the path of an object, and create its parent directories. Raise RunFailed if it cannot be a file."""
    fault = _fault_of_name(stored.key)
    if not fault:
        target = os.path.join(root, *stored.key.split("/"))
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            fault = _ALSO_FILE
        if not fault and not os.path.isdir(target):
            return target
        fault = fault or _ALSO_DIRECTORY
    raise _no_file(channel, stored.key, fault)


def _require_names(channel: str, names: Iterable[str]) -> None:
    """Raise RunFailed if one of the objects of a channel cannot be a file."""
    known = set(names)
    for name in sorted(known):
        fault = _fault_of_name(name)
        parts = name.split("/")
        if any("/".join(parts[:end]) in known for end in range(1, len(parts))):
            fault = fault or _ALSO_FILE
        if fault:
            raise _no_file(channel, name, fault)


def _fault_of_name(key: str) -> str:
    steps = key.split("/")
    if any(step in ("", ".", "..") or "\0" in step for step in steps):
        return "a part of its name is empty, `.`, or `..`, or contains a null character"
    if any(len(os.fsencode(step)) > _LONGEST_NAME for step in steps):
        return f"a part of its name is longer than {_LONGEST_NAME} bytes"
    return ""


def _no_file(channel: str, key: str, fault: str) -> RunFailed:
    name = f"{key[:_MOST_SHOWN]}…" if len(key) > _MOST_SHOWN else key
    return RunFailed(1, f"channel `{channel}`: object `{name}` cannot be a file: {fault}; rename it, or use Pipe mode")


def _written(blocks: Iterable[bytes], target: str) -> Iterator[int]:
    with open(target, "wb") as file:
        for block in blocks:
            file.write(block)
            yield len(block)


def copied(source: str, target: str) -> Iterator[int]:
    """Create ``target``, a new file with the bytes of ``source``; yield the size of each part.

    It is never a link: changes to it never affect ``source``.
    """
    if _cloned(source, target):
        yield os.path.getsize(target)
        return
    with open(source, "rb") as original, open(target, "wb") as copy:
        yield from _in_kernel(original, copy)
        yield from _in_blocks(original, copy)


def shares_blocks(source: str, target: str) -> bool:
    """Return whether a copy of ``source`` at ``target`` takes no space; remove the copy."""
    try:
        return _cloned(source, target)
    finally:
        if os.path.lexists(target):
            os.unlink(target)


def _cloned(source: str, target: str) -> bool:
    if sys.platform == "darwin":
        return _cloned_by_apfs(source, target)
    if not sys.platform.startswith("linux"):
        return False
    with open(source, "rb") as original, open(target, "wb") as clone:
        try:
            fcntl.ioctl(clone, _FICLONE, original.fileno())
        except OSError as fault:
            if fault.errno not in _NO_SHARING:
                raise
            return False
    return True


def _cloned_by_apfs(source: str, target: str) -> bool:
    import ctypes  # imported late: only macOS needs it

    try:
        clonefile = ctypes.CDLL(None).clonefile
    except AttributeError:
        return False
    if clonefile(os.fsencode(source), os.fsencode(target), 0):
        return False
    os.chmod(target, 0o644)  # the mode is copied too
    return True


def _in_kernel(original: BinaryIO, copy: BinaryIO) -> Iterator[int]:
    """Copy with the kernel, which on some file systems copies nothing."""
    if not hasattr(os, "copy_file_range"):
        return
    offset = 0
    while True:
        try:
            count = os.copy_file_range(original.fileno(), copy.fileno(), PART, offset, offset)
        except OSError as fault:
            if fault.errno not in _NO_SHARING:
                raise
            count = 0
        if not count:
            break
        offset += count
        yield count
    original.seek(offset)
    copy.seek(offset)


def _in_blocks(original: BinaryIO, copy: BinaryIO) -> Iterator[int]:
    """Copy the rest, if the kernel has not copied everything."""
    count = 0
    while block := original.read(_READ_SIZE):
        copy.write(block)
        count += len(block)
        if count >= PART:
            yield count
            count = 0
    if count:
        yield count
