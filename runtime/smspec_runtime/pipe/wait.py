"""One wait of a reader: it knows what it waits for, ends at once on a stop, and never lasts for ever."""

import select
import sys
import time
from typing import List, Sequence, Tuple

from .errors import Origin, TimedOut
from .wake import Wake

LOOK_UP = 1.0
"""Seconds after which a wait looks whether it should stop, in case the signal was heard by somebody else."""

TELL = 60.0
"""Seconds after which a wait says on stderr that it is still waiting."""


class Wait:
    """Wait for ``what``, at most ``limit`` seconds, in steps."""

    def __init__(self, what: str, limit: float, origin: Origin, offset: int, wakes: Sequence[Wake]) -> None:
        self._what = what
        self._limit = limit
        self._origin = origin
        self._offset = offset
        self._wakes = wakes
        self._began = time.monotonic()
        self._tell = self._began + TELL
        self._ready: List[Tuple[int, int]] = []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def pause(self, poll: "select.poll", step: float = LOOK_UP) -> bool:
        """Let ``poll``, which must know the wakes, wait for one step. False: stop. Raises TimedOut at the limit."""
        now = time.monotonic()
        left = self._began + self._limit - now
        if left <= 0:
            raise TimedOut(self._origin, self._offset, f"{self._what} for {self._limit:g} s: gave up")
        if now >= self._tell:
            self._tell = now + TELL
            where = f"{self._origin}, byte {self._offset}"
            sys.stderr.write(f"smspec: {where}: {self._what} for {now - self._began:.0f} s\n")
            sys.stderr.flush()
        self._ready = poll.poll(min(step, left, LOOK_UP) * 1000)
        return not any(wake.heard() for wake in self._wakes)

    def found(self, descriptor: int) -> bool:
        """Whether the last pause ended because of this descriptor."""
        return any(ready == descriptor for ready, _ in self._ready)
