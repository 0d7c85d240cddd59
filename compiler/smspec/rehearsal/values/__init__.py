"""The values in a file of a model, by their names: what the standard library can read without running anything.

A format has ``decode(data) -> Leaves``, and raises `Unreadable` for data of another format. Formats of archives also
take the function that decodes their members.
"""

from __future__ import annotations

from collections.abc import Callable

from smspec.rehearsal.values import (
    arrays,
    compressed_values,
    json_values,
    pickle_values,
    safetensors_values,
    table_values,
    tar_values,
    text_values,
    zip_values,
)
from smspec.rehearsal.values.leaf import Leaves, Unreadable

_ARCHIVES: tuple[Callable[[bytes, Callable[[bytes], Leaves | None]], Leaves], ...] = (
    compressed_values.decode,
    zip_values.decode,
    tar_values.decode,
)
_FORMATS: tuple[Callable[[bytes], Leaves], ...] = (
    arrays.decode,
    safetensors_values.decode,
    pickle_values.decode,
    json_values.decode,
    table_values.decode,
    text_values.decode,
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
