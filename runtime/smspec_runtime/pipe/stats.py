"""What one epoch of one channel cost: bytes, reads, and the seconds spent waiting."""

import time
from typing import Dict, Optional, Union


class Stats:
    """Counted while a stream is read; times are in seconds. ``idle``: the FIFO was open and empty."""

    def __init__(self) -> None:
        self.bytes = self.records = self.reads = self.pipe_size = 0
        self.wait_exists = self.wait_first_byte = self.backpressure = 0.0
        self.idle = self.prefetch_starved = self.merge_starved = 0.0
        self.starving = "idle"
        self.opened: Optional[float] = None
        self.ended: Optional[float] = None

    @property
    def starved(self) -> float:
        """How long the reader had nothing to work on. In a merge all starve together, 1/n each."""
        return float(getattr(self, self.starving))

    @property
    def waited(self) -> float:
        """``starved``, and the time before the first byte."""
        return self.starved + (self.starving != "merge_starved") * (self.wait_exists + self.wait_first_byte)

    @property
    def seconds(self) -> float:
        """How long the epoch has taken, from the opening of the FIFO."""
        return 0.0 if self.opened is None else (self.ended or time.monotonic()) - self.opened

    @property
    def throughput(self) -> float:
        """Megabytes (10⁶ bytes) per second."""
        return self.bytes / 1e6 / (self.seconds or 1)

    def as_dict(self) -> Dict[str, Union[int, float]]:
        """Return the figures under their names, rounded."""
        figures = {"bytes": self.bytes, "seconds": round(self.seconds, 6), "mb_per_s": round(self.throughput, 3)}
        for name in ("records", "reads", "pipe_size", "wait_exists", "wait_first_byte", "starved", "backpressure"):
            figures[name] = round(getattr(self, name), 6)
        return figures
