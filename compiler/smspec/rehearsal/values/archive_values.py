"""Files in which other files are: compressed ones, tar, and zip, with the formats of numpy and torch on top."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from smspec.rehearsal.values import pickle_values
from smspec.rehearsal.values.leaf import Leaves, Unreadable, is_log

MOST_BYTES = 4 << 30

_MOST_CONTENT = 1 << 30

_MAGIC = slice(257, 262)

_PICKLE = "/data.pkl"

_COMPRESSIONS: tuple[tuple[bytes, Callable[[], _Stream]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(31)),
    (b"x", lambda: zlib.decompressobj(15)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ", lzma.LZMADecompressor),
)


def values_of(members: Iterable[tuple[str, bytes]], decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of files by name; those of logs are left out, as in the model itself."""
    leaves: Leaves = {}
    for name, content in members:
        if is_log(name):
            continue
        found = decode_member(content)
        if found is None:
            found = {
                "": content.hex() if len(content) < 1 << 16 else f"{len(content)} bytes, {zlib.crc32(content):08x}"
            }
        leaves |= {f"{name}:{path}" if path else name: value for path, value in found.items()}
    return leaves


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def decode_compressed(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of the compressed file."""
    start = next((start for start, _ in _COMPRESSIONS if data.startswith(start)), None)
    if start is None:
        raise Unreadable
    content = _decompressed(data, dict(_COMPRESSIONS)[start])
    return decode_member(content) or {"content": content.hex() if len(content) < 1 << 16 else str(zlib.crc32(content))}


def _decompressed(data: bytes, new: Callable[[], _Stream]) -> bytes:
    """Return the content of all streams, one after the other."""
    parts: list[bytes] = []
    room = _MOST_CONTENT
    while data:
        stream = new()
        try:
            parts.append(stream.decompress(data, room))
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            raise Unreadable from None
        room -= len(parts[-1])
        if not stream.eof or room <= 0:
            raise Unreadable
        data = stream.unused_data
    return b"".join(parts)


def decode_tar(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of all files in the archive, and where its links point."""
    if data[_MAGIC] != b"ustar":
        raise Unreadable
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            members = archive.getmembers()
            if sum(member.size for member in members) > MOST_BYTES:
                raise Unreadable
            links: Leaves = {member.name: member.linkname for member in members if member.issym()}
            return values_of(_files(archive, members), decode_member) | links
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError):
        raise Unreadable from None


def _files(archive: tarfile.TarFile, members: list[tarfile.TarInfo]) -> Iterator[tuple[str, bytes]]:
    for member in members:
        file = archive.extractfile(member) if member.isfile() else None
        if file is not None:
            yield member.name.removeprefix("./"), file.read()


def decode_zip(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of all members; a file of torch has tensors, whose numbers are in members of their own."""
    if data[:4] != b"PK\x03\x04":
        raise Unreadable
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise Unreadable
            members = {member.filename: archive.read(member) for member in archive.infolist() if not member.is_dir()}
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, zlib.error):
        raise Unreadable from None
    main = next((name for name in members if name.endswith(_PICKLE)), None)
    if main is not None:
        return _of_torch(members, main.removesuffix("data.pkl"))
    return values_of(members.items(), decode_member)


def _of_torch(members: Mapping[str, bytes], root: str) -> Leaves:
    """Return the values of the pickled object, with the bytes of each storage in place of its key."""
    storages = {
        name.removeprefix(f"{root}data/"): content
        for name, content in members.items()
        if name.startswith(f"{root}data/")
    }
    return pickle_values.decode(members[f"{root}data.pkl"], storages)
