"""The bytes that an editor sends, within limits."""

from __future__ import annotations

import io
from typing import BinaryIO

MOST_BYTES = 1 << 27
"""Of one message. A longer one is read and dropped in parts."""


class ProtocolInput(io.BufferedIOBase):
    """Reads messages from ``stream``; what is too large for one is replaced by nothing."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        return self._stream.readline(MOST_BYTES)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size <= MOST_BYTES:
            return self._stream.read(-1 if size is None else size)
        rest = size
        while rest > 0 and (part := self._stream.read(min(rest, 1 << 20))):
            rest -= len(part)
        return b"null" if rest == 0 else b""
