"""The log of one host: written to its file as it arrives, and split into lines.

A line without an end is split, so that neither it nor a part of it needs more memory than two reads.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

_LONGEST_LINE = 1 << 16


class HostLog:
    """Takes the output of a host, byte for byte."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO | None = open(path, "wb")
        self._line = b""

    def take(self, data: bytes) -> Iterator[str]:
        """Write output to the file, and yield the lines that it ends."""
        if self._file is not None:
            self._file.write(data)
            self._file.flush()
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            yield _shown(line)
        if len(self._line) > _LONGEST_LINE:
            _, used = codecs.utf_8_decode(self._line, "replace", False)  # a character may be incomplete
            rest, self._line = self._line[:used], self._line[used:]
            yield _shown(rest)

    def close(self) -> Iterator[str]:
        """Close the file, and yield a last line without a line feed."""
        rest, self._line = self._line, b""
        if self._file is not None:
            self._file.close()
            self._file = None
        if rest:
            yield _shown(rest)


def _shown(line: bytes) -> str:
    """Decode a line and keep what a terminal would show: the part after the last carriage return."""
    return line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace")
