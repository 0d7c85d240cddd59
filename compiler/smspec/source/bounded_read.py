"""Read an open file up to a size limit."""

from __future__ import annotations

from io import RawIOBase


def read_bounded(file: RawIOBase, most: int) -> bytes:
    """Return the rest of an unbuffered file, but no more than one byte above ``most``."""
    chunks, room = [], most + 1
    while room > 0 and (chunk := file.read(room)):
        chunks.append(chunk)
        room -= len(chunk)
    return b"".join(chunks)
