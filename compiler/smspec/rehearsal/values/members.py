"""The files in an archive, and the values of all of them together."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

from smspec.rehearsal.log_files import is_log
from smspec.rehearsal.values.leaf import Leaves

MOST_BYTES = 4 << 30


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
