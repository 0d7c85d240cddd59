"""Find the parts that hosts wrote of one file, and make one file of them, without reading all of it into memory.

The names of parts contain that of a host: SageMaker merges the directories of all hosts, and ``algo-N``, unlike a
number, is never part of other names. A missing part is an error, because a result without the rows of a host looks like
any other.

The header of a CSV file is its first record, which may span lines within quotes (RFC 4180). That of a .npy file is as
in NEP 1 and `numpy.lib.format`: it is read and written without numpy.
"""

from __future__ import annotations

import ast
import math
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from smspec.collection.result_tree import MergeFailed
from smspec.source.frozen import dataclass

_MAGIC = b"\x93NUMPY"
_ALIGNMENT = 64
_LARGEST_HEADER = 1 << 20
_SIMPLE = re.compile(r"[<>|=]?([biufcmMSUV])([0-9]{1,9})(?:\[.+\])?")
_LONG_STRUCTURED = 65_535

_HOST = re.compile(r"(?<![A-Za-z0-9])algo-([1-9][0-9]{0,4})(?![A-Za-z0-9])")
_SEPARATORS = "-_."

_LARGEST_RECORD = 16 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

CONCAT, CSV, NPY = "concat", "csv", "npy"
BUILT_IN = (CONCAT, CSV, NPY)
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NpyHeader:
    """``dtype`` as the file writes it. ``size``: of the header, where the data begin."""

    dtype: str
    shape: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFiles:
    """``merged``: the path of the whole; ``parts``: the paths of its parts, in the order of their hosts."""

    merged: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvHeader:
    """``line``: the record without its line end and a byte order mark. ``size``: bytes before the second record."""

    line: bytes
    size: int


def part_files(paths: Iterable[str], hosts: int) -> tuple[PartFiles, ...]:
    """Return the results that consist of parts, by path.

    All hosts' /opt/ml/model become one archive, so each host names its files after itself. Paths that differ only in
    the host's name, `part-algo-1.csv` or `algo-1/part.csv`, are parts of the path without it, `part.csv`. A single
    file with the name of a host is a part only if the job has one host. ``hosts`` 0: unknown.

    Raise `MergeFailed` if the part of a host is missing.
    """
    groups: dict[str, dict[int, str]] = {}
    for path in paths:
        found = _HOST.search(path)
        if found is not None:
            groups.setdefault(_without(path, found), {})[int(found[1])] = path
    results = []
    for merged, parts in sorted(groups.items()):
        if len(parts) == 1 and hosts != 1:
            continue
        missing = sorted(set(range(1, (hosts or max(parts)) + 1)) - parts.keys())
        if missing:
            names = ", ".join(f"algo-{number}" for number in missing[:5])
            example = parts[min(parts)]
            raise MergeFailed(f"no part of {names} belongs to `{example}`, so the result would lack its rows")
        results.append(PartFiles(merged=merged, parts=tuple(parts[number] for number in sorted(parts))))
    return tuple(results)


def _without(path: str, found: re.Match[str]) -> str:
    """Return a path without the name of the host, and without one separator beside it."""
    before, after = path[: found.start()], path[found.end() :]
    if (not before or before.endswith("/")) and after.startswith("/"):
        return before + after[1:]
    if before and before[-1] in _SEPARATORS:
        before = before[:-1]
    elif after and after[0] in "-_":
        after = after[1:]
    name = (before + after).rpartition("/")[2]
    return before + after if name and not name.startswith(".") else f"{before}merged{after}"


def merge(how: tuple[str, ...], group: PartFiles, parts: Sequence[str], target: str) -> None:
    """Write ``target``, which is new, from the files ``parts`` of ``group``. Raise `MergeFailed`, or OSError.

    ``how``: the word of `BUILT_IN`, or a command that gets the paths of the parts and writes the result to stdout.
    """
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb") as whole:
        if how == (CONCAT,):
            for part in parts:
                _append(part, 0, whole)
        elif how == (CSV,):
            _merge_csv(group, parts, whole)
        elif how == (NPY,):
            _merge_npy(group, parts, whole)
        else:
            _run(how, group, parts, whole)


def _merge_csv(group: PartFiles, parts: Sequence[str], whole: BinaryIO) -> None:
    first = csv_header(parts[0])
    for number, (name, part) in enumerate(zip(group.parts, parts, strict=True)):
        header = csv_header(part)
        if not header.line:
            raise MergeFailed(f"`{name}` is empty: `--merge csv` needs a header in each part; use `--merge concat`")
        if header.line != first.line:
            raise MergeFailed(
                f"`{name}` has a different header than `{group.parts[0]}`; for files without a header, use"
                " `--merge concat`"
            )
        if number == 0:
            whole.write(header.line + b"\n")
        _append(part, header.size, whole)
        if _last_byte(part) != b"\n" and os.path.getsize(part) > header.size:
            whole.write(b"\n")


def _merge_npy(group: PartFiles, parts: Sequence[str], whole: BinaryIO) -> None:
    headers = [read_npy_header(name, part) for name, part in zip(group.parts, parts, strict=True)]
    first = headers[0]
    for name, header in zip(group.parts, headers, strict=True):
        if header.dtype != first.dtype:
            raise MergeFailed(f"`{name}` has the dtype {header.dtype}, but `{group.parts[0]}` {first.dtype}")
        if header.shape[1:] != first.shape[1:]:
            raise MergeFailed(
                f"`{name}` has the shape {header.shape}, but `{group.parts[0]}` {first.shape}; only the first length"
                " may differ"
            )
    rows = sum(header.shape[0] for header in headers)
    whole.write(written_npy_header(NpyHeader(dtype=first.dtype, shape=(rows, *first.shape[1:]), size=0)))
    for part, header in zip(parts, headers, strict=True):
        _append(part, header.size, whole)


def _run(command: Sequence[str], group: PartFiles, parts: Sequence[str], whole: BinaryIO) -> None:
    try:
        done = subprocess.run([*command, *parts], stdin=subprocess.DEVNULL, stdout=whole, check=False)
    except OSError as fault:
        raise MergeFailed(f"cannot start `{command[0]}`, the command of `--merge`: {fault.strerror}") from None
    if done.returncode:
        raise MergeFailed(f"`{command[0]}` ended with status {done.returncode} for the parts of `{group.merged}`")


def _append(part: str, offset: int, whole: BinaryIO) -> None:
    with open(part, "rb") as file:
        file.seek(offset)
        shutil.copyfileobj(file, whole, _CHUNK)


def _last_byte(path: str) -> bytes:
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return b""
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def csv_header(path: str) -> CsvHeader:
    """Return the header of a file. Raise `MergeFailed` if its first record has no end, OSError."""
    with open(path, "rb") as file:
        start = file.read(_LARGEST_RECORD)
    at = 0
    while True:
        end = start.find(b"\n", at)
        end = len(start) if end < 0 else end + 1
        if start.count(b'"', 0, end) % 2 == 0 or end == len(start):
            break
        at = end
    if len(start) == _LARGEST_RECORD == end:
        raise MergeFailed(f"the first record of `{path}` is longer than {_LARGEST_RECORD:,} bytes: is it a CSV file?")
    return CsvHeader(line=start[:end].removeprefix(_BYTE_ORDER_MARK).rstrip(b"\r\n"), size=end)


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
        if size > _LARGEST_HEADER:
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
