"""The bytes of each file of a tree, and the digests in the manifest.

Archives are reproducible: the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping

from smspec.diagnostics.quoting import system_reason
from smspec.output.atomic_file import OutputFailed
from smspec.render.tree import ArchiveFile, CopiedFile, GeneratedFile, ManifestFile, TreeFile, manifest_json
from smspec.source import ListedFile

_CHUNK = 1 << 20

_BLOCK = 512
_LONGEST_STORED_BLOCK = 0xFFFF

# RFC 1952: deflate, no name, no time, no level, unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

TAR_END = bytes(2 * _BLOCK)


def chunks(file: TreeFile, digests: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the content of a file. ``digests``: of every other file, by path; a manifest needs them.

    Raise `OutputFailed` after the last chunk of a copied file that has changed since it was listed.
    """
    if isinstance(file, GeneratedFile):
        yield file.content
    elif isinstance(file, CopiedFile):
        yield from _verified(file.file)
    elif isinstance(file, ArchiveFile):
        yield from stored_gzip(_tar(file))
    elif isinstance(file, ManifestFile):
        yield manifest_json(file, digests)


def is_executable(file: TreeFile) -> bool:
    """Return whether a file of a tree gets its executable bits."""
    if isinstance(file, CopiedFile):
        return file.file.executable
    return isinstance(file, GeneratedFile) and file.executable


def expected_digest(file: TreeFile, digests: Mapping[str, str]) -> str:
    """Return the SHA-256 that a file of a tree will have; a copied file is not read again for it."""
    if isinstance(file, CopiedFile):
        return file.file.sha256
    digest = hashlib.sha256()
    for chunk in chunks(file, digests):
        digest.update(chunk)
    return digest.hexdigest()


def in_order_of_making(files: tuple[TreeFile, ...]) -> list[TreeFile]:
    """Return the files with the manifest last: it lists all others."""
    return sorted(files, key=lambda file: isinstance(file, ManifestFile))


def _tar(archive: ArchiveFile) -> Iterator[bytes]:
    for member in archive.members:
        yield tar_header(member.path, member.file.size, executable=member.file.executable)
        yield from _verified(member.file)
        yield tar_end_of(member.file.size)
    yield TAR_END


def _opened_file(path: str, flags: int) -> int:
    """Open a file without waiting: a FIFO may have taken its place since it was listed, and has no writer."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OutputFailed(f"`{path}` is not a file anymore; run the command again")
    return opened


def _verified(listed: ListedFile) -> Iterator[bytes]:
    digest = hashlib.sha256()
    try:
        with open(listed.origin, "rb", buffering=0, opener=_opened_file) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                yield chunk
    except OSError as fault:
        raise OutputFailed(f"cannot read `{listed.origin}`: {system_reason(fault)}") from fault
    if digest.hexdigest() != listed.sha256:
        raise OutputFailed(f"`{listed.origin}` changed while smspec was reading it; run the command again")


def tar_header(path: str, size: int, *, executable: bool, time: int = 0) -> bytes:
    """Return the header of a file: owner 0, mode 0644 or 0755; with a PAX record for a long name."""
    import tarfile  # imported late: few builds pack an archive

    entry = tarfile.TarInfo(path)
    entry.size = size
    entry.mode = 0o755 if executable else 0o644
    entry.mtime = time
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def tar_directory(path: str, *, time: int = 0, mode: int = 0o755, user: int = 0, group: int = 0) -> bytes:
    """Return the header of a directory; by default, owner 0, mode 0755."""
    import tarfile  # imported late, as above

    entry = tarfile.TarInfo(path)
    entry.type = tarfile.DIRTYPE
    entry.mode, entry.uid, entry.gid = mode, user, group
    entry.mtime = time
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def tar_end_of(size: int) -> bytes:
    """Return the zeros that pad the last block of a member."""
    return bytes(-size % _BLOCK)


def stored_gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a gzip file that contains the chunks uncompressed.

    zlib, zlib-ng, and their versions compress the same bytes differently, so compressing would make the archive depend
    on the machine that packs it. Source code is small, and stored blocks (RFC 1951 section 3.2.4) are simple to write.
    """
    checksum, size, waiting = 0, 0, bytearray()
    yield _GZIP_HEADER
    for chunk in chunks:
        checksum = zlib.crc32(chunk, checksum)
        size += len(chunk)
        waiting += chunk
        while len(waiting) > _LONGEST_STORED_BLOCK:
            yield _stored_block(waiting[:_LONGEST_STORED_BLOCK], last=False)
            del waiting[:_LONGEST_STORED_BLOCK]
    yield _stored_block(waiting, last=True)
    yield struct.pack("<II", checksum, size & 0xFFFFFFFF)


def _stored_block(content: bytearray, *, last: bool) -> bytes:
    return struct.pack("<BHH", last, len(content), len(content) ^ 0xFFFF) + content
