"""Archives that are equal byte by byte wherever they are packed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from smspec.render.tree import CopiedFile

_BLOCK = 512
_LONGEST_STORED_BLOCK = 0xFFFF

# RFC 1952: deflate, no name, no time, no level, unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def tar_header(member: CopiedFile) -> bytes:
    """Return the header of a member: owner 0, time 0, mode 0644 or 0755; a PAX record where its name is long."""
    import tarfile  # late: few builds pack an archive

    entry = tarfile.TarInfo(member.path)
    entry.size = member.file.size
    entry.mode = 0o755 if member.file.executable else 0o644
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict")


def tar_end_of(size: int) -> bytes:
    """Return the zeros that fill up the last block of a member."""
    return bytes(-size % _BLOCK)


TAR_END = bytes(2 * _BLOCK)


def stored_gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a gzip file that holds the chunks uncompressed.

    What zlib, zlib-ng and their versions make of the same bytes differs, so compressing would tie the archive to the
    machine that packs it. Source code is small; RFC 1951 section 3.2.4 (stored blocks) costs nothing to obey.
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
