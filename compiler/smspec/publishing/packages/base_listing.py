"""The files of a base image: their names, from all of its layers, each read once from its registry and cached."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import posixpath
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from smspec.output.atomic_file import OutputFailed, write_whole_bytes
from smspec.publishing.publication import PublishFailed
from smspec.registry.manifest import Blob, ImageLayer
from smspec.workspace.own_directories import existing_cache, open_cache, require_safe_entry

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_MOST_LINKS = 40
"""How many symbolic links Linux follows in a path."""

_FORMAT = "layers-2"
_CHUNK = 1 << 20
_MOST_FILES = 2_000_000
_LARGEST_RECORD = 16 << 20


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """A file in a layer. ``path`` is absolute. ``text``: the target of a link, or the content of a RECORD.

    ``status``: mode, user, group, and time of a directory.
    """

    path: str
    kind: Literal["file", "directory", "link"]
    text: str = ""
    status: tuple[int, int, int, int] = (0o755, 0, 0, 0)


class BaseListing:
    """The files of an image, by path."""

    def __init__(self, entries: dict[str, LayerEntry]) -> None:
        self._entries = entries

    def get(self, path: str) -> LayerEntry | None:
        """Return what is at a path; links in it are not followed."""
        return self._entries.get(path)

    def has(self, path: str) -> bool:
        """Return whether there is something at a path, where links lead to."""
        there = self.resolved(path)
        return self.get(there) is not None or self.is_directory(there)

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory at a path, which no layer need list if it lists a file in it."""
        entry = self.get(path)
        return (entry is not None and entry.kind == "directory") or bool(self.names(path))

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names in a directory, sorted."""
        return tuple(sorted(self._children[directory]))

    def resolved(self, path: str) -> str:
        """Return a path without symbolic links; what does not exist stays as it is. Raise ValueError for a loop."""
        left = [part for part in path.split("/") if part][::-1]
        found, links = "", 0
        while left:
            part = left.pop()
            if part in ("", "."):
                continue
            if part == "..":
                found = posixpath.dirname(found) if found else ""
                found = "" if found == "/" else found
                continue
            entry = self._entries.get(f"{found}/{part}")
            if entry is None or entry.kind != "link":
                found = f"{found}/{part}"
                continue
            links += 1
            if links > _MOST_LINKS:
                raise ValueError(path)
            found = "" if entry.text.startswith("/") else found
            left += [each for each in entry.text.split("/") if each][::-1]
        return found or "/"

    @cached_property
    def _children(self) -> defaultdict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self._entries:
            while path:  # a layer need not list the directories above its files
                directory, _, name = path.rpartition("/")
                if name in found[directory or "/"]:
                    break
                found[directory or "/"].add(name)
                path = directory
        return found


class LayerSource(Protocol):
    """What has the content of layers."""

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield a layer in parts, verified at its end. Raise PublishFailed."""
        ...


class _Stream:
    """What tarfile needs of a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._waiting = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._waiting) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._waiting += chunk
        found = bytes(self._waiting[:size])
        del self._waiting[:size]
        return found


def listing_of(layers: Iterable[Iterable[LayerEntry]]) -> BaseListing:
    """Return the files of an image from those of its layers, the lowest first."""
    found: dict[str, LayerEntry] = {}
    for layer in layers:
        entries = [*layer]
        gone, opaque = set(), set()
        for entry in entries:
            directory, _, name = entry.path.rpartition("/")
            if name == _OPAQUE:
                opaque.add(directory)
            elif name.startswith(_WHITEOUT):
                gone.add(f"{directory}/{name.removeprefix(_WHITEOUT)}")
            elif entry.kind != "directory":
                gone.add(entry.path)
        if gone or opaque:
            found = {path: kept for path, kept in found.items() if not _is_removed(path, gone, opaque)}
        for entry in entries:
            if not os.path.basename(entry.path).startswith(_WHITEOUT):
                found[entry.path] = entry
    return BaseListing(found)


def _is_removed(path: str, gone: set[str], opaque: set[str]) -> bool:
    return path in gone or any(above in gone or above in opaque for above in _above(path))


def _above(path: str) -> Iterator[str]:
    """Yield the directories above a path; the last one is the root, which is empty."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def layer_entries(layer: ImageLayer, source: LayerSource) -> list[LayerEntry]:
    """Return what is in a layer of a source. Raise PublishFailed."""
    name = f"{layer.blob.digest.replace(':', '-')}.json.gz"
    found = _kept(name)
    if found is None:
        found = _read(layer, source.chunks(layer.blob))
        _keep(name, found)
    return found


def _read(layer: ImageLayer, chunks: Iterator[bytes]) -> list[LayerEntry]:
    stream = _Stream(_unpacked(chunks) if layer.media_type.endswith("gzip") else chunks)
    found: list[LayerEntry] = []
    records: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as archive:  # type: ignore[call-overload]  # it needs `read` only
            for member in archive:
                entry = _entry(archive, member, records)
                if entry is not None:
                    found.append(entry)
                    records |= {entry.path: entry.text} if entry.kind == "file" and entry.text else {}
                archive.members = []  # or it keeps all of them
                if len(found) > _MOST_FILES:
                    raise tarfile.TarError
        while stream.read(_CHUNK):  # its digest is checked at its end
            pass
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError):
        raise PublishFailed(3, f"cannot read the layer `{layer.blob.digest}` of the base: it is malformed") from None
    return found


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo, records: dict[str, str]) -> LayerEntry | None:
    """Return what a member is. ``records``: path → content of each RECORD before it, to which hard links may refer."""
    path = _path(member.name)
    if not path:
        return None
    if member.issym():
        return LayerEntry(path, "link", member.linkname)
    if member.isdir():
        return LayerEntry(path, "directory", "", (member.mode & 0o7777, member.uid, member.gid, int(member.mtime)))
    text = ""
    if path.endswith(".dist-info/RECORD") and member.isreg() and member.size <= _LARGEST_RECORD:
        file = archive.extractfile(member)
        text = file.read().decode("utf-8", "replace") if file else ""
    return LayerEntry(path, "file", records.get(_path(member.linkname), "") if member.islnk() else text)


def _path(name: str) -> str:
    """Return the absolute path of a member; empty for the root, and for what is outside of it."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return "" if ".." in parts or not parts else "/" + "/".join(parts)


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip file in parts of a limited size, whatever it claims."""
    unpack = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        waiting = chunk
        while waiting:
            if unpack.eof:  # several compressed streams may follow each other
                unpack = zlib.decompressobj(wbits=31)
            yield unpack.decompress(waiting, _CHUNK)
            waiting = unpack.unconsumed_tail or unpack.unused_data
    if not unpack.eof:
        raise EOFError


def _kept(name: str) -> list[LayerEntry] | None:
    directory = existing_cache(_FORMAT)
    if directory is None:
        return None
    kept = os.path.join(directory, name)
    try:
        require_safe_entry(kept)
        with gzip.open(kept, "rt", encoding="utf-8") as file:
            return [LayerEntry(path, kind, text, tuple(status)) for path, kind, text, status in json.load(file)]
    except (OSError, EOFError, ValueError, TypeError, IndexError, zlib.error):
        return None


def _keep(name: str, entries: list[LayerEntry]) -> None:
    """Keep a listing. A cache that cannot be written is an empty one."""
    listed = [[each.path, each.kind, each.text, each.status] for each in entries]
    content = gzip.compress(json.dumps(listed, separators=(",", ":")).encode("utf-8", "surrogatepass"), 5, mtime=0)
    with contextlib.suppress(OSError, OutputFailed):
        write_whole_bytes(os.path.join(open_cache(_FORMAT), name), (content,))
