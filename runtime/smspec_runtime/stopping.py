"""Whether the program has been asked to stop."""

import os
import signal
from types import FrameType

from .lean_typing import Any, Optional


class StopRequest:
    """Remembers SIGTERM once asked; an earlier handler is called, too."""

    def __init__(self) -> None:
        self._seen = False
        self._process = 0
        self._previous: Any = None

    @property
    def seen(self) -> bool:
        if self._previous is None:
            self._process = os.getpid()
            try:
                self._previous = signal.signal(signal.SIGTERM, self._remember) or signal.SIG_DFL
            except ValueError:
                pass  # In the main thread only; another just reads.
        return self._seen

    def _remember(self, number: int, frame: Optional[FrameType]) -> None:
        if os.getpid() != self._process:
            # Else Process.terminate() could not end a forked worker.
            signal.signal(signal.SIGTERM, self._previous)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self._seen = True
        if callable(self._previous):
            self._previous(number, frame)
