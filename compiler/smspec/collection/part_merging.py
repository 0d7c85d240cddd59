"""Make one file of the parts that hosts wrote, without reading all of it into memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import BinaryIO

from smspec.collection.csv_header import csv_header
from smspec.collection.faults import MergeFailed
from smspec.collection.npy_header import NpyHeader, read_npy_header, written_npy_header
from smspec.collection.part_files import PartFiles

CONCAT, CSV, NPY = "concat", "csv", "npy"
BUILT_IN = (CONCAT, CSV, NPY)
_CHUNK = 1 << 20


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
