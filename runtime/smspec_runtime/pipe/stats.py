"""What one epoch of one channel cost: bytes, reads, and the seconds spent waiting."""

import time
from typing import Dict, Optional, Union


class Stats:
    """Counted while a stream is read. Seconds are wall-clock seconds.

    ``wait_exists``: until the FIFO was there. ``wait_first_byte``: from then until its first byte, or its end.
    ``idle``: the FIFO was open and empty. ``starved``: the reader had nothing to work on. ``backpressure``: the
    prefetch was full. ``pipe_size``: capacity of the FIFO, 0 for a regular file. ``records``: items of the views that
    frame them, 0 for chunks and lines.
    """

    def __init__(self) -> None:
        self.bytes = self.records = self.reads = self.pipe_size = 0
        self.wait_exists = self.wait_first_byte = self.idle = self.backpressure = self.merge_starved = 0.0
        self.prefetch_starved: Optional[float] = None
        self.merged = False
        self.opened: Optional[float] = None
        self.ended: Optional[float] = None

    @property
    def starved(self) -> float:
        """Without prefetch the reader starves whenever the FIFO is empty. In a merge all starve together, 1/n each."""
        if self.merged:
            return self.merge_starved
        return self.idle if self.prefetch_starved is None else self.prefetch_starved

    @property
    def waited(self) -> float:
        """All seconds without anything to work on, those before the first byte too."""
        return self.starved + (0.0 if self.merged else self.wait_exists + self.wait_first_byte)

    @property
    def seconds(self) -> float:
        """How long the epoch has taken, from the opening of the FIFO."""
        if self.opened is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.opened

    @property
    def throughput(self) -> float:
        """Megabytes (10⁶ bytes) per second."""
        seconds = self.seconds
        return self.bytes / 1e6 / seconds if seconds > 0 else 0.0

    def as_dict(self) -> Dict[str, Union[int, float]]:
        """Return the figures under their names, seconds rounded to the microsecond."""
        figures = {"bytes": self.bytes, "seconds": round(self.seconds, 6), "mb_per_s": round(self.throughput, 3)}
        for name in ("records", "reads", "pipe_size", "wait_exists", "wait_first_byte", "starved", "backpressure"):
            figures[name] = round(getattr(self, name), 6)
        return figures
