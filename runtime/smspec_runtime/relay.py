"""Passes on what a program writes to a pipe, byte for byte and at once, and keeps the end of it.

Never waits: the supervisor asks when there is something to read or room to write, so a slow reader of our standard
error cannot keep a signal from the program.
"""

import os
import select
import stat

from .lean_typing import Optional
from .log import PIPE_ROOM

CHUNK = 1 << 16


class Relay:
    """One pipe. ``sink``: the descriptor to write to, or None to keep only. ``keep``: how many bytes of the end."""

    def __init__(self, source: int, sink: Optional[int], keep: int) -> None:
        self.source: Optional[int] = source
        self._sink = sink
        self._keep = keep
        self._kept = bytearray()
        self._pending = b""
        self._room = CHUNK if sink is None or stat.S_ISREG(os.fstat(sink).st_mode) else PIPE_ROOM

    @property
    def is_finished(self) -> bool:
        """Whether nobody holds the other end any more and everything has been passed on."""
        return self.source is None and not self._pending

    @property
    def kept(self) -> bytes:
        return bytes(self._kept[-self._keep :])

    def register(self, poll: "select.poll") -> None:
        """Say what we wait for: room to write while something is pending, else something to read."""
        if self._pending and self._sink is not None:
            poll.register(self._sink, select.POLLOUT)
        elif self.source is not None:
            poll.register(self.source, select.POLLIN)

    def handle(self, descriptor: int) -> None:
        """Do what a registered descriptor is ready for."""
        if descriptor == self._sink:
            self._write()
        elif descriptor == self.source:
            self._read()

    def close(self) -> None:
        if self.source is not None:
            os.close(self.source)
            self.source = None

    def _read(self) -> None:
        assert self.source is not None
        data = os.read(self.source, CHUNK)
        if not data:
            self.close()
            return
        self._kept += data
        if len(self._kept) > 2 * self._keep:
            del self._kept[: -self._keep]
        if self._sink is not None:
            self._pending = data

    def _write(self) -> None:
        assert self._sink is not None
        try:
            written = os.write(self._sink, self._pending[: self._room])
        except BlockingIOError:
            return
        except OSError:
            # Nobody reads our standard error, or its disk is full. The program must not notice: go on reading.
            self._sink = None
            self._pending = b""
            return
        self._pending = self._pending[written:]
