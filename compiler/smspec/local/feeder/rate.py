"""A limit of bytes per second."""

import time
from typing import Callable

_BURST_SECONDS = 0.05


class Bucket:
    """Lets ``rate`` bytes per second pass, in bursts of a twentieth of a second."""

    def __init__(self, rate: int, sleep: Callable[[float], object]) -> None:
        self.chunk = max(1, int(rate * _BURST_SECONDS))
        self._rate = rate
        self._sleep = sleep
        self._free_at = time.monotonic()

    def took(self, size: int) -> None:
        """Wait for the time that the last ``size`` bytes, at most `chunk`, take at this rate."""
        now = time.monotonic()
        self._free_at = max(self._free_at, now - _BURST_SECONDS) + size / self._rate
        if self._free_at > now:
            self._sleep(self._free_at - now)
