"""gzip, whose header has a time."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable

from smspec.rehearsal.values.leaf import Leaves, Unreadable

_MOST_BYTES = 1 << 30


def decode(data: bytes, decode_member: Callable[[bytes], Leaves | None]) -> Leaves:
    """Return the values of the compressed file."""
    if data[:2] != b"\x1f\x8b":
        raise Unreadable
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(_MOST_BYTES)
    except (OSError, EOFError, zlib.error):
        raise Unreadable from None
    return decode_member(content) or {"content": content.hex() if len(content) < 1 << 16 else str(zlib.crc32(content))}
