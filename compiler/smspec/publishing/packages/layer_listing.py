"""The names of the files in a layer of a base image, read from its registry once, and kept in the cache."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

from smspec.output.atomic_file import OutputFailed, write_whole_bytes
from smspec.publishing.packages.base_listing import Entry
from smspec.publishing.publication import PublishFailed
from smspec.registry.manifest import Blob, ImageLayer
from smspec.workspace.cache_directory import existing_cache, open_cache, require_safe_entry


class Source(Protocol):
    """What has the content of layers."""

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield a layer in parts, verified at its end. Raise PublishFailed."""
        ...


_FORMAT = "layers-2"
_CHUNK = 1 << 20
_MOST_FILES = 2_000_000
_LARGEST_RECORD = 16 << 20
_KINDS = {tarfile.SYMTYPE: "link", tarfile.DIRTYPE: "directory"}


def layer_entries(layer: ImageLayer, source: Source) -> list[Entry]:
    """Return what is in a layer of a source. Raise PublishFailed."""
    name = f"{layer.blob.digest.replace(':', '-')}.json.gz"
    found = _kept(name)
    if found is None:
        found = _read(layer, source.chunks(layer.blob))
        _keep(name, found)
    return found


def _read(layer: ImageLayer, chunks: Iterator[bytes]) -> list[Entry]:
    stream = _Stream(_unpacked(chunks) if layer.media_type.endswith("gzip") else chunks)
    found: list[Entry] = []
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


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo, records: dict[str, str]) -> Entry | None:
    """Return what a member is. ``records``: path → content of each RECORD before it, to which hard links may refer."""
    path = _path(member.name)
    if not path:
        return None
    if member.issym():
        return Entry(path, "link", member.linkname)
    if member.isdir():
        return Entry(path, "directory", "", (member.mode & 0o7777, member.uid, member.gid, int(member.mtime)))
    text = ""
    if path.endswith(".dist-info/RECORD") and member.isreg() and member.size <= _LARGEST_RECORD:
        file = archive.extractfile(member)
        text = file.read().decode("utf-8", "replace") if file else ""
    return Entry(path, "file", records.get(_path(member.linkname), "") if member.islnk() else text)


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


def _kept(name: str) -> list[Entry] | None:
    directory = existing_cache(_FORMAT)
    if directory is None:
        return None
    kept = os.path.join(directory, name)
    try:
        require_safe_entry(kept)
        with gzip.open(kept, "rt", encoding="utf-8") as file:
            return [Entry(path, kind, text, tuple(status)) for path, kind, text, status in json.load(file)]
    except (OSError, EOFError, ValueError, TypeError, IndexError, zlib.error):
        return None


def _keep(name: str, entries: list[Entry]) -> None:
    """Keep a listing. A cache that cannot be written is an empty one."""
    listed = [[each.path, each.kind, each.text, each.status] for each in entries]
    content = gzip.compress(json.dumps(listed, separators=(",", ":")).encode("utf-8", "surrogatepass"), 5, mtime=0)
    with contextlib.suppress(OSError, OutputFailed):
        write_whole_bytes(os.path.join(open_cache(_FORMAT), name), (content,))
