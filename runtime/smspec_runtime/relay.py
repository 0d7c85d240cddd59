"""Passes on a program's output, and keeps its end. Never blocks, so signals do not."""

import os
import select
import stat

from .log import PIPE_ROOM

CHUNK = 1 << 16
_BEFORE, _BEGINNING = 4096, 1024  # Bytes before a cut line, and of its beginning.


class Relay:
    """One pipe, passed on to ``sink`` unless that is -1. Keeps ``keep`` bytes of its end, and the beginning of a longer
    line, such as an exception with a table."""

    def __init__(self, source: int, sink: int, keep: int) -> None:
        self._source, self._sink, self._keep = source, sink, keep
        self._kept = bytearray()
        self._opening = b""
        self._pending = b""
        self._room = CHUNK if sink < 0 or stat.S_ISREG(os.fstat(sink).st_mode) else PIPE_ROOM

    @property
    def is_finished(self) -> bool:
        """Whether the other end is closed and all is passed on."""
        return self._source < 0 and not self._pending

    @property
    def kept(self) -> bytes:
        self._cut()
        return self._opening + bytes(self._kept)

    def register(self, poll: "select.poll") -> None:
        if self._pending:
            poll.register(self._sink, select.POLLOUT)
        elif self._source >= 0:
            poll.register(self._source, select.POLLIN)

    def handle(self) -> None:
        if self._pending:
            self._write()
            return
        if not (data := os.read(self._source, CHUNK)):
            self.close()
        self._kept += data
        if len(self._kept) > 2 * self._keep:
            self._cut()
        if self._sink >= 0:
            self._pending = data

    def close(self) -> None:
        if self._source >= 0:
            os.close(self._source)
            self._source = -1

    def _cut(self) -> None:
        dropped = bytes(self._kept[: -self._keep])
        del self._kept[: -self._keep]
        line = dropped.rfind(b"\n") + 1
        if line:
            self._opening = dropped[max(line - _BEFORE, 0) : line + _BEGINNING]
        elif len(self._opening) < _BEFORE + _BEGINNING:
            self._opening += dropped[:_BEGINNING]

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._sink, self._pending[: self._room]) :]
        except BlockingIOError:
            pass
        except OSError:
            # No reader, or a full disk. The program must not notice.
            self._sink, self._pending = -1, b""
