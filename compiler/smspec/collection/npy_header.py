"""The header of a .npy file, as in NEP 1 and `numpy.lib.format`: read and written without numpy."""

from __future__ import annotations

import ast
import math
import os
import re
import struct

from smspec.collection.faults import MergeFailed
from smspec.source.frozen import dataclass

_MAGIC = b"\x93NUMPY"
_ALIGNMENT = 64
_LARGEST = 1 << 20
_SIMPLE = re.compile(r"[<>|=]?([biufcmMSUV])([0-9]{1,9})(?:\[.+\])?")
_LONG_STRUCTURED = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class NpyHeader:
    """``dtype`` as the file writes it. ``size``: of the header, where the data begin."""

    dtype: str
    shape: tuple[int, ...]
    size: int


def read_npy_header(name: str, path: str) -> NpyHeader:
    """Return the header of an array that can be continued along axis 0. ``name`` is for messages.

    Raise `MergeFailed` for any other file.
    """
    with open(path, "rb") as file:
        start = file.read(12)
        if start[:6] != _MAGIC or len(start) < 12 or start[6] not in (1, 2, 3):
            raise MergeFailed(f"`{name}` is not a .npy file")
        (length,) = struct.unpack("<H", start[8:10]) if start[6] == 1 else struct.unpack("<I", start[8:12])
        size = (10 if start[6] == 1 else 12) + length
        if size > _LARGEST:
            raise MergeFailed(f"`{name}` has a header of {size:,} bytes")
        file.seek(size - length)
        written = file.read(length)
    dtype, shape, is_fortran = _members(name, written, "utf-8" if start[6] == 3 else "latin-1")
    if not shape:
        raise MergeFailed(f"`{name}` is a single value; only arrays can be merged")
    if is_fortran and len(shape) > 1:
        raise MergeFailed(f"`{name}` is in Fortran order; save `numpy.ascontiguousarray(array)` instead")
    width = _width(name, dtype)
    if os.path.getsize(path) != size + math.prod(shape) * width:
        raise MergeFailed(f"`{name}` does not have as many bytes as its shape {shape} needs")
    return NpyHeader(dtype=repr(dtype), shape=shape, size=size)


def written_npy_header(header: NpyHeader) -> bytes:
    """Return the bytes of a header: version 1, or 2 or 3 where that cannot hold it."""
    fields = f"{{'descr': {header.dtype}, 'fortran_order': False, 'shape': {header.shape!r}, }}"
    try:
        content, version = fields.encode("latin-1"), 1
    except UnicodeEncodeError:
        content, version = fields.encode(), 3
    if version == 1 and len(content) + _ALIGNMENT > _LONG_STRUCTURED:
        version = 2
    before = 10 if version == 1 else 12
    content += b" " * (-(before + len(content) + 1) % _ALIGNMENT) + b"\n"
    return _MAGIC + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(content)) + content


def _members(name: str, written: bytes, encoding: str) -> tuple[object, tuple[int, ...], bool]:
    try:
        members = ast.literal_eval(written.decode(encoding).strip())
        dtype, shape, is_fortran = members["descr"], members["shape"], members["fortran_order"]
    except (ValueError, SyntaxError, LookupError, TypeError, MemoryError, RecursionError):
        raise MergeFailed(f"`{name}` has a damaged header") from None
    is_shape = isinstance(shape, tuple) and all(type(length) is int and length >= 0 for length in shape)
    if not is_shape or not isinstance(is_fortran, bool):
        raise MergeFailed(f"`{name}` has a damaged header")
    return dtype, shape, is_fortran


def _width(name: str, dtype: object) -> int:
    """Return the bytes of an item."""
    if isinstance(dtype, str) and (found := _SIMPLE.fullmatch(dtype)):
        return int(found[2]) * (4 if found[1] == "U" else 1)
    if isinstance(dtype, list):
        return sum(_field_width(name, field) for field in dtype)
    raise MergeFailed(f"`{name}` has the dtype {dtype!r}, which smspec cannot merge")


def _field_width(name: str, field: object) -> int:
    if not isinstance(field, tuple) or len(field) not in (2, 3):
        raise MergeFailed(f"`{name}` has a damaged header")
    shape = field[2] if len(field) == 3 else ()
    if not isinstance(shape, tuple) or not all(type(length) is int and length >= 0 for length in shape):
        raise MergeFailed(f"`{name}` has a damaged header")
    return _width(name, field[1]) * math.prod(shape)
