"""Reproducible archives: the same bytes on every machine."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

_BLOCK = 512
_LONGEST_STORED_BLOCK = 0xFFFF

# RFC 1952: deflate, no name, no time, no level, unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


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


TAR_END = bytes(2 * _BLOCK)


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
