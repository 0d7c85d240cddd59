"""Parse the measurements that the runtime logs per channel and epoch (smspec_runtime/pipe/loop.py)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

METRICS = '{"smspec": "pipe", '
"""The prefix of such a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds of one epoch of a channel: from opening its FIFO to its end, of waiting for data, and of computing.

    ``epoch`` continues after a restart, ``fifo`` starts at 0. ``waiting`` and ``computing`` are of all channels.
    """

    channel: str
    epoch: int
    fifo: int
    seconds: float
    waiting: float
    computing: float


def measured(text: str) -> Measured | None:
    """Parse a line. None: it is not such a line, or a script wrote an invalid one."""
    if not text.startswith(METRICS):
        return None
    try:
        record = json.loads(text)
        found = Measured(
            channel=str(record["channel"]),
            epoch=int(record["epoch"]),
            fifo=int(record["fifo"]),
            seconds=float(record["seconds"]),
            waiting=float(record["waited"]),
            computing=float(record["computed"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    times = found.seconds, found.waiting, found.computing
    return found if all(math.isfinite(time) and time >= 0 for time in times) else None
