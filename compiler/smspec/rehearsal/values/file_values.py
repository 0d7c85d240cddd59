"""Files with one kind of values: arrays of numpy, tensors, JSON, tables of numbers, and text."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import struct

from smspec.rehearsal.values.leaf import Array, Leaves, Scalar, Unreadable, flattened

_NUMPY = b"\x93NUMPY"

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

_DELIMITERS = (",", "\t", ";")

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")


def decode_array(data: bytes) -> Leaves:
    """Return the array of a `.npy` file. One of Python objects is pickled, so it is not read."""
    if data[:6] != _NUMPY or len(data) < 12:
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


def decode_safetensors(data: bytes) -> Leaves:
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


def decode_json(data: bytes) -> Leaves:
    """Return the values of a JSON text that is a list or an object, or of JSON lines."""
    if data.lstrip()[:1] not in (b"{", b"["):
        raise Unreadable
    try:
        return dict(flattened(json.loads(data)))
    except (ValueError, RecursionError):
        pass
    try:
        return dict(flattened([json.loads(line) for line in data.splitlines() if line.strip()]))
    except (ValueError, RecursionError):
        raise Unreadable from None


def decode_table(data: bytes) -> Leaves:
    """Return the cells of a table with at least two columns, as many in each row."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if not first.count(delimiter) or "\0" in text:
        raise Unreadable
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error:
        raise Unreadable from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Unreadable
    has_header = not any(isinstance(_value(cell), float) for cell in rows[0])
    names = rows[0] if has_header else [f"column{number}" for number in range(1, len(rows[0]) + 1)]
    return {
        f"{name}[{index}]": _value(cell)
        for index, row in enumerate(rows[has_header:])
        for name, cell in zip(names, row, strict=True)
    }


def _value(cell: str) -> Scalar:
    try:
        return float(cell)
    except ValueError:
        return cell


def decode_text(data: bytes) -> Leaves:
    """Return the lines of a UTF-8 text, without their numbers, and the numbers."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable from None
    if "\0" in text:
        raise Unreadable
    leaves: Leaves = {}
    for index, line in enumerate(text.splitlines()):
        leaves[f"line[{index}]"] = _NUMBER.sub("#", line)
        for place, match in enumerate(_NUMBER.finditer(line)):
            leaves[f"line[{index}].number[{place}]"] = float(match[0])
    return leaves
