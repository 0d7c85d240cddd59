"""One line of the log of a training job."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """``time``: milliseconds since 1970, when the host wrote it; ``host``: such as ``algo-1``."""

    time: int
    host: str
    text: str
