"""Tensors in a `.safetensors` file: a JSON header with the place of each, then their bytes."""

from __future__ import annotations

import json
import struct

from smspec.rehearsal.values.leaf import Array, Leaves, Unreadable

_KINDS = {
    "F64": "f8",
    "F32": "f4",
    "F16": "f2",
    "BF16": "bf16",
    "I64": "i8",
    "I32": "i4",
    "I16": "i2",
    "I8": "i1",
    "U64": "u8",
    "U32": "u4",
    "U16": "u2",
    "U8": "u1",
    "BOOL": "b1",
}


def decode(data: bytes) -> Leaves:
    """Return the tensors by name."""
    if len(data) < 10 or data[8:9] != b"{":
        raise Unreadable
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        raise Unreadable
    content = memoryview(data)[8 + length :]
    leaves: Leaves = {}
    try:
        header = json.loads(data[8 : 8 + length])
        for name, entry in header.items():
            if name != "__metadata__":
                first, end = entry["data_offsets"]
                kind = _KINDS.get(entry["dtype"], entry["dtype"])
                leaves[name] = Array(kind, tuple(map(int, entry["shape"])), bytes(content[first:end]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable from None
    return leaves
