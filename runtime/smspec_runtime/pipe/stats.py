"""The cost of one epoch of one channel."""

import time
from typing import Dict, Union

FIGURES = "bytes seconds mb_per_s records reads pipe_size wait_exists wait_first_byte starved backpressure"


class Stats:
    """In seconds. ``idle``: the FIFO was open and empty."""

    bytes = records = reads = pipe_size = 0
    opened = ended = wait_exists = wait_first_byte = backpressure = idle = prefetch_starved = merge_starved = 0.0
    starving = "idle"

    @property
    def starved(self) -> float:
        """In a merge 1/n of the time without work."""
        return float(getattr(self, self.starving))

    @property
    def waited(self) -> float:
        """``starved``, and the time before the first byte."""
        included = self.starving == "merge_starved"
        return self.starved + (0 if included else self.wait_exists + self.wait_first_byte)

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.opened if self.opened else 0.0

    @property
    def mb_per_s(self) -> float:
        return self.bytes / 1e6 / (self.seconds or 1)

    def as_dict(self) -> Dict[str, Union[int, float]]:
        return {name: round(getattr(self, name), 6) for name in FIGURES.split()}
