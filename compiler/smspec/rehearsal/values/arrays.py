"""Arrays of numpy: one `.npy` file."""

from __future__ import annotations

import ast
import struct

from smspec.rehearsal.values.leaf import Array, Leaves, Unreadable

_MAGIC = b"\x93NUMPY"


def decode(data: bytes) -> Leaves:
    """Return the array of a `.npy` file. One of Python objects is pickled, so it is not read."""
    if data[:6] != _MAGIC or len(data) < 12:
        raise Unreadable
    size = 2 if data[6] == 1 else 4
    length = struct.unpack("<H" if size == 2 else "<I", data[8 : 8 + size])[0]
    start = 8 + size
    try:
        header = ast.literal_eval(data[start : start + length].decode("latin-1").strip())
        kind, shape = header["descr"], tuple(map(int, header["shape"]))
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise Unreadable from None
    if not isinstance(kind, str) or "O" in kind:
        return {}
    return {"": numbers(kind, shape, data[start + length :])}


def numbers(kind: str, shape: tuple[int, ...], data: bytes) -> Array:
    """Return an array of a type of numpy with its byte order, such as ``<f4``."""
    if 0 not in shape:
        return Array(kind.lstrip("<>|="), shape, data, is_big=kind.startswith(">"))
    return Array(kind.lstrip("<>|="), shape, b"")
