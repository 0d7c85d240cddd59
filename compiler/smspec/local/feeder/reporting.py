"""The events of the feeder: one JSON object per line, with the seconds since its start."""

import json
import os
import threading
import time
from typing import Any, Optional


class Reporting:
    """Writes events to a file descriptor, from any thread. A closed reader is ignored."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def ready(self) -> None:
        """The first FIFO of every channel exists."""
        self._write(event="ready")

    def opened(self, channel: str, epoch: int, total: Optional[int]) -> None:
        """An epoch is opened for reading, of ``total`` bytes if that is known in advance."""
        self._write(event="opened", channel=channel, epoch=epoch, total=total)

    def sent(self, channel: str, epoch: int, size: int) -> None:
        """The number of bytes of an epoch that were read so far."""
        self._write(event="sent", channel=channel, epoch=epoch, bytes=size)

    def injected(self, channel: str, epoch: int, size: int, kind: str) -> None:
        """A fault is injected after ``size`` bytes; ``kind`` is the name of a member of Injection."""
        self._write(event="injected", channel=channel, epoch=epoch, bytes=size, kind=kind)

    def ended(self, channel: str, epoch: int, size: int, seconds: float, early: bool) -> None:
        """An epoch is over; ``early``: the reader closed the FIFO before the end."""
        self._write(event="ended", channel=channel, epoch=epoch, bytes=size, seconds=round(seconds, 6), early=early)

    def fault(self, channel: str, epoch: int, message: str, unavailable: bool) -> None:
        """The data cannot be fed; ``unavailable``: their store cannot be reached."""
        self._write(event="fault", channel=channel, epoch=epoch, message=message, unavailable=unavailable)

    def _write(self, **event: Any) -> None:
        event["at"] = round(time.monotonic() - self._start, 6)
        line = (json.dumps(event) + "\n").encode("ascii")
        with self._lock:
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                pass
