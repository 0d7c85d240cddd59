"""The values in a file of a model, by their names: what the standard library can read without running anything.

A format is a function from data to `Leaves` that raises `Unreadable` for data of another format. Formats of archives
also take the function that decodes their members.
"""

from __future__ import annotations

from collections.abc import Callable

from smspec.rehearsal.values import archive_values, file_values, pickle_values
from smspec.rehearsal.values.leaf import Leaves, Unreadable

_ARCHIVES: tuple[Callable[[bytes, Callable[[bytes], Leaves | None]], Leaves], ...] = (
    archive_values.decode_compressed,
    archive_values.decode_zip,
    archive_values.decode_tar,
)
_FORMATS: tuple[Callable[[bytes], Leaves], ...] = (
    file_values.decode_array,
    file_values.decode_safetensors,
    pickle_values.decode,
    file_values.decode_json,
    file_values.decode_table,
    file_values.decode_text,
)
"""In the order in which they are tried: those with a magic number first, text last."""


def decode(data: bytes) -> Leaves | None:
    """Return the values of a file, or None if its format is unknown; none at all for a pickle that cannot be read."""
    for unpack in _ARCHIVES:
        try:
            return unpack(data, decode)
        except Unreadable:
            continue
    for read in _FORMATS:
        try:
            return read(data)
        except Unreadable:
            continue
    return None
