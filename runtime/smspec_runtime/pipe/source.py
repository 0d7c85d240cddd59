"""What a stream reads from: a FIFO itself, or a prefetch in front of one."""

from typing import Optional, Protocol

from .errors import Origin
from .stats import Stats


class Source(Protocol):
    """``end`` is None while there may be more; then "eof", "stopped" or "closed" (see `Fifo`)."""

    origin: Origin
    stats: Stats

    @property
    def end(self) -> Optional[str]: ...

    def readinto(self, view: memoryview) -> int:
        """Read at least one byte, waiting for it if need be; 0 at the end."""
        ...

    def close(self) -> None:
        """End the epoch here and release the writer."""
        ...
