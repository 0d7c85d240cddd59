"""Whether the program has been asked to stop."""

import os
import signal
from types import FrameType

from .lean_typing import Any, Optional


class StopRequest:
    """Remembers SIGTERM. The handler is installed when the question is first asked, not before: a program that never
    asks is ended by the signal as ever. A handler that was there before is still called."""

    def __init__(self) -> None:
        self._seen = False
        self._watching = False
        self._process = 0
        self._previous: Any = signal.SIG_DFL

    @property
    def seen(self) -> bool:
        """Whether SIGTERM has arrived since the question was first asked."""
        if not self._watching:
            self._watch()
        return self._seen

    def _watch(self) -> None:
        self._process = os.getpid()
        try:
            self._previous = signal.signal(signal.SIGTERM, self._remember)
            self._watching = True
        except ValueError:
            pass  # Python allows this in the main thread only; another just reads.

    def _remember(self, number: int, frame: Optional[FrameType]) -> None:
        if os.getpid() != self._process:
            # A forked worker that swallowed SIGTERM could not be ended by Process.terminate() or Pool.terminate().
            signal.signal(signal.SIGTERM, self._previous)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self._seen = True
        if callable(self._previous):
            self._previous(number, frame)
